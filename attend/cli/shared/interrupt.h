// Ctrl-C, SIGTERM and SIGHUP (a closed terminal). The first signal asks the work to stop where it can stop cleanly,
// without half-written files; the second ends the program at once.
#pragma once

namespace attend::cli {

/// Unwinds to main, which ends the program with 128 + signal (130 for Ctrl-C). Not a std::exception, so that
/// no handler treats it as a failure.
struct Interrupted {
  int signal;
};

/// From now on SIGINT, SIGTERM and SIGHUP are noted, a closed pipe is a failed write instead of a signal, and a mapped
/// file that is truncated is an Error (check_mapped_files()) instead of a signal.
void catch_signals();
/// Whether a signal has arrived.
bool interrupted();
/// Throws Interrupted if a signal has arrived, and Error if a mapped file was changed. Readers, writers and progress
/// bars call it; long work that uses none of them should call it, too.
void stop_if_interrupted();

/// While one lives, the first Ctrl-C ends the program at once: for calls into libraries that take long and cannot be
/// asked to stop. No file may be open for writing meanwhile.
class StopAtOnce {
 public:
  StopAtOnce();
  ~StopAtOnce();
  StopAtOnce(const StopAtOnce&) = delete;
  StopAtOnce& operator=(const StopAtOnce&) = delete;
};

}  // namespace attend::cli
