#include "attend/serve/worker_thread.h"

#include <gtest/gtest.h>

#include "attend/serve/api_error.h"

namespace attend::serve {
namespace {

using Clock = std::chrono::steady_clock;

const std::atomic<bool> kRuns = false;

Patience patience(std::chrono::milliseconds time) { return {Clock::now() + time, {}, &kRuns}; }

/// Works until it is stopped, and notes that it was.
auto endless(const std::shared_ptr<std::atomic<bool>>& stopped) {
  return [stopped] {
    try {
      for (;;) {
        check_stop();
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
      }
    } catch (...) {
      *stopped = true;
      throw;
    }
    return 0;
  };
}

template <typename Worker>
void expect_stops(Worker& worker) {
  const auto stopped = std::make_shared<std::atomic<bool>>(false);
  EXPECT_THROW(worker.ask(endless(stopped), patience(std::chrono::milliseconds(100))), ApiError);
  for (int i = 0; i < 2000 && !*stopped; ++i) std::this_thread::sleep_for(std::chrono::milliseconds(5));
  EXPECT_TRUE(*stopped);
  EXPECT_EQ(worker.ask([] { return 7; }, patience(std::chrono::seconds(60))), 7);
}

TEST(WorkerThread, StopsWorkThatNobodyWaitsFor) {
  WorkerThread worker;
  expect_stops(worker);
}

TEST(LongWork, StopsWorkThatNobodyWaitsFor) {
  LongWork work;
  expect_stops(work);
}

TEST(LongWork, GivesOnTheErrorAndGoesOn) {
  LongWork work;
  for (int i = 0; i < 5; ++i)
    EXPECT_THROW(work.ask([]() -> int { throw std::bad_alloc(); }, patience(std::chrono::seconds(60))), std::bad_alloc);
  EXPECT_EQ(work.ask([] { return 7; }, patience(std::chrono::seconds(60))), 7);
}

TEST(LongWork, WaitsForAPlaceNoLongerThanItsTime) {
  LongWork work;
  std::atomic<bool> free = false;
  std::vector<std::thread> others;
  for (int i = 0; i < 2; ++i)
    others.emplace_back([&] {
      work.ask(
          [&] {
            while (!free) std::this_thread::sleep_for(std::chrono::milliseconds(1));
            return 0;
          },
          patience(std::chrono::seconds(60)));
    });
  std::this_thread::sleep_for(std::chrono::milliseconds(100));
  const auto code = [&] {
    try {
      work.ask([] { return 0; }, patience(std::chrono::milliseconds(100)));
    } catch (const ApiError& error) {
      return error.code;
    }
    return std::string();
  }();
  EXPECT_EQ(code, "timeout");
  free = true;
  for (std::thread& other : others) other.join();
}

}  // namespace
}  // namespace attend::serve
