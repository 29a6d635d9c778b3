#include "attend/serve/worker_thread.h"

#include <malloc.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <ctime>

#include "attend/core/threads.h"

namespace attend::serve {

void give_way_if_long() {
  constexpr long kNanoseconds = 100'000'000;
  timespec used{};
  if (::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &used) == 0 && (used.tv_sec > 0 || used.tv_nsec > kNanoseconds))
    ::setpriority(PRIO_PROCESS, static_cast<id_t>(::gettid()), 10);
}

WorkerThread::~WorkerThread() {
  {
    const std::lock_guard lock(mutex_);
    ending_ = true;
  }
  arrived_.notify_one();
  thread_.join();
}

void WorkerThread::push(std::function<void()> task) {
  {
    const std::lock_guard lock(mutex_);
    tasks_.push_back(std::move(task));
  }
  arrived_.notify_one();
}

void WorkerThread::run() {
  set_threads(1);
  for (;;) {
    std::function<void()> task;
    {
      std::unique_lock lock(mutex_);
      arrived_.wait(lock, [&] { return ending_ || !tasks_.empty(); });
      if (tasks_.empty()) return;
      task = std::move(tasks_.front());
      tasks_.pop_front();
    }
    task();
  }
}

LongWork::~LongWork() {
  std::unique_lock lock(mutex_);
  finished_.wait(lock, [&] { return std::ranges::all_of(running_, &Running::done); });
  join_finished();
}

void LongWork::join_finished() {
  std::erase_if(running_, [](Running& one) {
    if (one.done) one.thread.join();
    return one.done;
  });
}

void LongWork::start(std::function<void()> task, const Patience& patience) {
  std::unique_lock lock(mutex_);
  const auto place = line_.insert(line_.end(), 0);
  const auto leave_line = [&] {
    line_.erase(place);
    finished_.notify_all();
  };
  const auto has_room = [&] {
    return place == line_.begin() && std::ranges::count(running_, false, &Running::done) < std::int64_t{kAtOnce};
  };
  while (!finished_.wait_for(lock, kPollInterval, has_room)) try {
      lock.unlock();
      patience.check();
      lock.lock();
    } catch (...) {
      lock.lock();
      leave_line();
      throw;
    }
  leave_line();
  join_finished();
  Running& own = running_.emplace_back();
  try {
    own.thread = std::thread([this, &own, task = std::move(task)]() mutable {
      set_threads(1);
      task();
      task = {};
      ::malloc_trim(0);  // a long task has used much memory
      const std::lock_guard done(mutex_);
      own.done = true;
      finished_.notify_all();
    });
  } catch (...) {  // the system has no thread left
    running_.pop_back();
    throw;
  }
}

}  // namespace attend::serve
