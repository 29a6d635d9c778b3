// Runs code on a small stack, where recursion over a long text would overflow.
#pragma once
#include <pthread.h>

#include <exception>
#include <functional>

#include "attend/core/error.h"
#include "attend/core/sanitizer.h"

namespace attend::test {

/// Calls f in a thread with a stack of 256 kB, and passes on what it throws. The address sanitizer, whose frames are
/// larger, gets twice as much.
inline void run_with_small_stack(const std::function<void()>& f) {
  struct Job {
    const std::function<void()>& f;
    std::exception_ptr error;
  } job{f, nullptr};
  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  pthread_attr_setstacksize(&attributes, (ATTEND_ASAN ? 512 : 256) << 10);
  pthread_t thread;
  const auto body = [](void* argument) -> void* {
    auto& own = *static_cast<Job*>(argument);
    try {
      own.f();
    } catch (...) {
      own.error = std::current_exception();
    }
    return nullptr;
  };
  const int status = pthread_create(&thread, &attributes, body, &job);
  pthread_attr_destroy(&attributes);
  if (status != 0) fail("test", "cannot start a thread: error ", status);
  pthread_join(thread, nullptr);
  if (job.error) std::rethrow_exception(job.error);
}

}  // namespace attend::test
