#include "attend/cli/shared/interrupt.h"

#include <unistd.h>

#include <atomic>
#include <csignal>
#include <initializer_list>

#include "attend/core/file.h"

namespace attend::cli {
namespace {

std::atomic<int> noted{0};  // the signal that has arrived
std::atomic<bool> at_once{false};
static_assert(std::atomic<int>::is_always_lock_free && std::atomic<bool>::is_always_lock_free);

void note(int signal) {
  if (at_once || noted.exchange(signal) != 0) ::_exit(128 + signal);
}

/// A page of a mapped file is gone, since the file was truncated. Whoever uses the file learns it from
/// check_mapped_files(). Any other bus error ends the program as usual.
void replace_page(int, siginfo_t* info, void*) {
  if (!replace_lost_pages(info->si_addr)) ::signal(SIGBUS, SIG_DFL);
}

}  // namespace

void catch_signals() {
  struct sigaction action {};
  action.sa_handler = note;  // without SA_RESTART: a read that waits for input must return
  sigemptyset(&action.sa_mask);
  for (const int signal : {SIGINT, SIGTERM, SIGHUP}) {
    struct sigaction before {};
    ::sigaction(signal, nullptr, &before);
    if (before.sa_handler != SIG_IGN)
      ::sigaction(signal, &action, nullptr);  // nohup and background jobs keep ignoring it
  }
  ::signal(SIGPIPE, SIG_IGN);
  struct sigaction lost {};
  lost.sa_sigaction = replace_page;
  lost.sa_flags = SA_SIGINFO | SA_RESTART;
  sigemptyset(&lost.sa_mask);
  ::sigaction(SIGBUS, &lost, nullptr);
}

bool interrupted() { return noted != 0; }

void stop_if_interrupted() {
  if (const int signal = noted) throw Interrupted{signal};
  check_mapped_files();
}

StopAtOnce::StopAtOnce() {
  stop_if_interrupted();
  at_once = true;
}
StopAtOnce::~StopAtOnce() { at_once = false; }

}  // namespace attend::cli
