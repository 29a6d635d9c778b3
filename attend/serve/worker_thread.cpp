#include "attend/serve/worker_thread.h"

#include <malloc.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>

#include "attend/core/threads.h"

namespace attend::serve {

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
  const auto has_room = [&] { return std::ranges::count(running_, false, &Running::done) < std::int64_t{kAtOnce}; };
  while (!finished_.wait_for(lock, kPollInterval, has_room)) {
    lock.unlock();
    patience.check();
    lock.lock();
  }
  join_finished();
  Running& own = running_.emplace_back();
  try {
    own.thread = std::thread([this, &own, task = std::move(task)]() mutable {
      ::setpriority(PRIO_PROCESS, static_cast<id_t>(::gettid()), 10);  // others first
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
