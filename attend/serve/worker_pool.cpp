#include "attend/serve/worker_pool.h"

#include <malloc.h>

#include <algorithm>
#include <system_error>
#include <utility>

#include "attend/core/threads.h"

namespace attend::serve {

void WorkerPool::add(std::function<void()> task) {
  {
    const std::lock_guard lock(mutex_);
    if (tasks_.size() >= idle_ && workers_.size() < most_) {
      Worker& worker = workers_.emplace_back();
      try {
        worker.thread = std::thread([this, &worker] { work(worker); });
      } catch (const std::system_error&) {  // the others will do it
        workers_.pop_back();
        if (workers_.empty()) throw;
      }
    }
    tasks_.push_back(std::move(task));
  }
  wake_.notify_one();
}

void WorkerPool::shrink(bool unneeded) {
  std::list<Worker> ended;
  {
    const std::lock_guard lock(mutex_);
    for (auto next = workers_.begin(); next != workers_.end();)
      if (const auto worker = next++; worker->ended) ended.splice(ended.end(), workers_, worker);
    if (unneeded) dismissed_ = std::exchange(least_idle_, idle_);
  }
  if (unneeded) wake_.notify_all();
  for (Worker& worker : ended) worker.thread.join();
  if (!ended.empty()) ::malloc_trim(0);
}

void WorkerPool::finish() {
  {
    const std::lock_guard lock(mutex_);
    finished_ = true;
  }
  wake_.notify_all();
  for (Worker& worker : workers_) worker.thread.join();
  workers_.clear();
}

void WorkerPool::work(Worker& own) {
  set_threads(1);  // this thread does little work itself; the model thread uses all cores
  std::unique_lock lock(mutex_);
  for (;;) {
    ++idle_;
    wake_.wait(lock, [&] { return finished_ || !tasks_.empty() || dismissed_ > 0; });
    least_idle_ = std::min(least_idle_, --idle_);
    if (tasks_.empty()) {
      if (!finished_) --dismissed_, own.ended = true;
      return;
    }
    const std::function<void()> task = std::move(tasks_.front());
    tasks_.pop_front();
    lock.unlock();
    task();
    lock.lock();
  }
}

}  // namespace attend::serve
