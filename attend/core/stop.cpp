#include "attend/core/stop.h"

#include <utility>

namespace attend {
namespace {

thread_local StopCheck* innermost = nullptr;

}  // namespace

StopCheck::StopCheck(std::function<void()> check) : check_(std::move(check)), before_(std::exchange(innermost, this)) {}
StopCheck::~StopCheck() { innermost = before_; }

void check_stop() {
  if (innermost) innermost->check_();
}

}  // namespace attend
