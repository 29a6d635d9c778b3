#include "attend/core/threads.h"

#include <omp.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <exception>
#include <mutex>

#include "attend/core/error.h"
#include "attend/core/machine.h"
#include "attend/core/sanitizer.h"
#if ATTEND_TSAN
#include <thread>
#include <vector>
#endif

namespace attend {
namespace {

/// Calls body(0) … body(count - 1), each on its own thread if the system provides enough threads, and waits for all.
void on_each_thread(int count, FunctionRef<void(int)> body);
/// Whether this thread is inside on_each_thread.
bool nested();

#if ATTEND_TSAN
// The thread sanitizer does not understand the barriers of OpenMP, so builds with it use std::thread instead.
thread_local bool inside_loop = false;

void on_each_thread(int count, FunctionRef<void(int)> body) {
  std::vector<std::thread> others;
  for (int t = 1; t < count; ++t)
    others.emplace_back([&body, t] {
      inside_loop = true;
      body(t);
    });
  inside_loop = true;
  body(0);
  inside_loop = false;
  for (std::thread& other : others) other.join();
}

bool nested() { return inside_loop; }
#else
void on_each_thread(int count, FunctionRef<void(int)> body) {
#pragma omp parallel num_threads(count)
  {
    // OpenMP may start fewer than `count` threads. Then some threads call body() several times.
    for (int t = omp_get_thread_num(); t < count; t += omp_get_num_threads()) body(t);
  }
}

bool nested() { return omp_in_parallel() != 0; }
#endif

/// Like on_each_thread, but body() may throw. An exception must not leave a thread of the pool, so the first one is
/// rethrown on the calling thread.
void on_each_thread_or_throw(int count, FunctionRef<void(int)> body) {
  std::exception_ptr first;
  std::mutex mutex;
  on_each_thread(count, [&](int t) {
    try {
      body(t);
    } catch (...) {
      const std::lock_guard lock(mutex);
      if (!first) first = std::current_exception();
    }
  });
  if (first) std::rethrow_exception(first);
}

}  // namespace

int available_cpus() {
  static const int cpus = [] {
    const CpuLimits limits = cpu_limits();
    int count = limits.allowed;
    if (limits.quota > 0) count = std::min(count, static_cast<int>(std::ceil(limits.quota)));
    return std::max(count, 1);
  }();
  return cpus;
}

int threads() {
  // The default of OpenMP ignores the CPU quota of cgroups.
  thread_local const bool initialised = (omp_set_num_threads(std::min(omp_get_max_threads(), available_cpus())), true);
  static_cast<void>(initialised);
  return omp_get_max_threads();
}

void set_threads(int count) {
  constexpr int kMost = 1024;  // OpenMP terminates the process if the system cannot create a thread
  if (count < 1 || count > kMost) fail("threads", "wrong number of threads: got ", count, ", expected 1 to ", kMost);
  threads();
  omp_set_num_threads(count);
}

void parallel_for(std::int64_t n, std::int64_t grain, FunctionRef<void(std::int64_t, std::int64_t)> body) {
  if (n <= 0) return;
  grain = std::max<std::int64_t>(grain, 1);
  const std::int64_t grains = (n + grain - 1) / grain;
  const int count = static_cast<int>(std::min<std::int64_t>(nested() ? 1 : threads(), grains));
  if (count <= 1) return body(0, n);
  on_each_thread_or_throw(count, [&](int t) {
    const std::int64_t begin = grains * t / count * grain, end = std::min(n, grains * (t + 1) / count * grain);
    if (begin < end) body(begin, end);
  });
}

void parallel_tasks(std::int64_t n, FunctionRef<void(std::int64_t)> body) {
  const int count = static_cast<int>(std::min<std::int64_t>(nested() ? 1 : threads(), n));
  if (count <= 1) {
    for (std::int64_t i = 0; i < n; ++i) body(i);
    return;
  }
  std::atomic<std::int64_t> next{0};
  on_each_thread_or_throw(count, [&](int) {
    for (std::int64_t i; (i = next.fetch_add(1, std::memory_order_relaxed)) < n;) body(i);
  });
}

}  // namespace attend
