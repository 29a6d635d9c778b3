#include "attend/cli/shared/interrupt.h"

#include <unistd.h>

#include <atomic>
#include <csignal>
#include <initializer_list>

namespace attend::cli {
namespace {

std::atomic<int> noted{0};  // the signal that has arrived
std::atomic<bool> at_once{false};
static_assert(std::atomic<int>::is_always_lock_free && std::atomic<bool>::is_always_lock_free);

void note(int signal) {
  if (at_once || noted.exchange(signal) != 0) ::_exit(128 + signal);
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
}

bool interrupted() { return noted != 0; }

void stop_if_interrupted() {
  if (const int signal = noted) throw Interrupted{signal};
}

StopAtOnce::StopAtOnce() {
  stop_if_interrupted();
  at_once = true;
}
StopAtOnce::~StopAtOnce() { at_once = false; }

}  // namespace attend::cli
