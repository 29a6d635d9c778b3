#include "attend/core/threads.h"

#include <gtest/gtest.h>

#include <atomic>
#include <thread>
#include <vector>

#include "attend/core/error.h"

namespace attend {
namespace {

/// Sets the number of threads for one test.
class Threads {
 public:
  explicit Threads(int count) : before_(threads()) { set_threads(count); }
  ~Threads() { set_threads(before_); }

 private:
  int before_;
};

TEST(Threads, EveryIndexIsVisitedOnceForEveryCountAndGrain) {
  for (const int count : {1, 2, 3, 7}) {
    const Threads scope(count);
    for (const std::int64_t n : {0, 1, 5, 64, 1000})
      for (const std::int64_t grain : {0, 1, 7, 64, 5000}) {
        std::vector<std::atomic<int>> visits(static_cast<std::size_t>(n));
        parallel_for(n, grain, [&](std::int64_t begin, std::int64_t end) {
          for (std::int64_t i = begin; i < end; ++i) ++visits[static_cast<std::size_t>(i)];
        });
        for (const auto& visit : visits) ASSERT_EQ(visit, 1) << n << " in grains of " << grain << " on " << count;
        parallel_tasks(n, [&](std::int64_t i) { ++visits[static_cast<std::size_t>(i)]; });
        for (const auto& visit : visits) ASSERT_EQ(visit, 2);
      }
  }
}

TEST(Threads, RangesStartAtMultiplesOfTheGrain) {
  const Threads scope(3);
  parallel_for(1000, 64, [](std::int64_t begin, std::int64_t end) {
    EXPECT_EQ(begin % 64, 0);
    EXPECT_TRUE(end % 64 == 0 || end == 1000);
  });
}

TEST(Threads, ANestedLoopRunsOnItsThread) {
  const Threads scope(2);
  parallel_tasks(4, [](std::int64_t) {
    const std::thread::id outer = std::this_thread::get_id();
    parallel_for(100, 1, [&](std::int64_t, std::int64_t) { EXPECT_EQ(std::this_thread::get_id(), outer); });
  });
}

TEST(Threads, AnExceptionReachesTheCaller) {
  const Threads scope(2);
  EXPECT_THROW(parallel_for(100, 1, [](std::int64_t, std::int64_t) { fail("body", "no"); }), Error);
  EXPECT_THROW(parallel_tasks(100, [](std::int64_t i) { i == 50 ? fail("body", "no") : void(); }), Error);
}

TEST(Threads, ThereIsAtLeastOneCpuAndInvalidNumbersAreRefused) {
  EXPECT_GE(available_cpus(), 1);
  EXPECT_THROW(set_threads(0), Error);
  EXPECT_THROW(set_threads(1'000'000), Error);
}

}  // namespace
}  // namespace attend
