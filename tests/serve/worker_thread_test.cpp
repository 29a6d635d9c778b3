#include "attend/serve/worker_thread.h"

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <unistd.h>

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

TEST(LongWork, TasksRunInTheOrderOfTheirArrival) {
  LongWork work;
  std::atomic<int> waiting = 0;
  std::atomic<bool> free = false;
  std::mutex mutex;
  std::vector<int> order;
  std::vector<std::thread> clients;
  for (int i = 0; i < 12; ++i) {
    clients.emplace_back([&, i] {
      ++waiting;
      work.ask(
          [&, i] {
            while (!free) std::this_thread::sleep_for(std::chrono::milliseconds(1));
            const std::lock_guard lock(mutex);
            order.push_back(i);
            return 0;
          },
          patience(std::chrono::seconds(60)));
    });
    while (waiting <= i) std::this_thread::yield();
    std::this_thread::sleep_for(std::chrono::milliseconds(20));  // until it stands in line
  }
  free = true;
  for (std::thread& client : clients) client.join();
  ASSERT_EQ(order.size(), 12u);
  for (int i = 0; i < 12; ++i) EXPECT_LE(std::abs(order[static_cast<std::size_t>(i)] - i), 1) << "two run at once";
}

TEST(LongWork, ATaskThatTakesLongGetsALowPriority) {
  LongWork work;
  const auto own_priority = [] { return ::getpriority(PRIO_PROCESS, static_cast<id_t>(::gettid())); };
  const int usual = own_priority();
  EXPECT_EQ(work.ask([&] { return check_stop(), own_priority(); }, patience(std::chrono::seconds(60))), usual);
  const int after = work.ask(
      [&] {
        for (const std::clock_t begin = std::clock(); std::clock() - begin < CLOCKS_PER_SEC;) check_stop();
        return own_priority();
      },
      patience(std::chrono::seconds(60)));
  EXPECT_EQ(after, std::max(usual, 10));
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
