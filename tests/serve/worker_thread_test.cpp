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
  std::atomic<bool> first_may_end = false, second_may_end = false;
  std::atomic<int> started = 0;
  std::vector<std::thread> clients;
  for (std::atomic<bool>* may_end : {&first_may_end, &second_may_end})  // two run at once
    clients.emplace_back([&, may_end] {
      work.ask(
          [&, may_end] {
            for (++started; !*may_end;) std::this_thread::yield();
            return 0;
          },
          patience(std::chrono::seconds(60)));
    });
  while (started < 2) std::this_thread::yield();
  std::vector<int> order, expected;
  for (int i = 0; i < 10; ++i) {
    expected.push_back(i);
    clients.emplace_back(
        [&, i] { work.ask([&, i] { return order.push_back(i), 0; }, patience(std::chrono::seconds(60))); });
    std::this_thread::sleep_for(std::chrono::milliseconds(50));  // until it stands in line
  }
  first_may_end = true;  // now the others run one by one, beside the second
  for (std::size_t i = 0; i < clients.size(); ++i)
    if (i != 1) clients[i].join();
  second_may_end = true;
  clients[1].join();
  EXPECT_EQ(order, expected);
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
