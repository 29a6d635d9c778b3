// Lets a caller stop long work of the library, such as the tokenisation of a large text. Calls that take a Progress can
// be stopped by it, too; this works for all.
#pragma once
#include <functional>

namespace attend {

/// While one lives, check_stop() on this thread calls `check`, which may throw to stop the work.
class StopCheck {
 public:
  explicit StopCheck(std::function<void()> check);
  ~StopCheck();
  StopCheck(const StopCheck&) = delete;
  StopCheck& operator=(const StopCheck&) = delete;

 private:
  friend void check_stop();
  std::function<void()> check_;
  StopCheck* before_;
};

/// Called by loops that may take long, some times a second. Does nothing if no StopCheck lives on this thread.
void check_stop();

}  // namespace attend
