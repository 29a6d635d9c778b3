// The threads that answer requests. Their number follows the load: a task that finds no idle thread starts one, and
// threads that were not needed for a while end.
#pragma once
#include <condition_variable>
#include <cstddef>
#include <deque>
#include <functional>
#include <list>
#include <mutex>
#include <thread>

namespace attend::serve {

class WorkerPool {
 public:
  explicit WorkerPool(std::size_t most) : most_(most) {}
  ~WorkerPool() { finish(); }
  WorkerPool(const WorkerPool&) = delete;
  WorkerPool& operator=(const WorkerPool&) = delete;

  /// Runs a task, which must not throw, on a thread. It waits while `most` threads are busy. Throws std::system_error
  /// if the system has no thread left and there is none yet.
  void add(std::function<void()> task);
  /// Removes the threads that have ended. With `unneeded`, dismisses those that were not needed since the last time, so
  /// that the memory of a short peak is given back.
  void shrink(bool unneeded);
  /// Waits until all tasks are done, and ends the threads.
  void finish();

 private:
  struct Worker {
    std::thread thread;
    bool ended = false;
  };
  void work(Worker& own);

  const std::size_t most_;
  std::mutex mutex_;
  std::condition_variable wake_;
  std::deque<std::function<void()>> tasks_;
  std::list<Worker> workers_;
  std::size_t idle_ = 0;
  std::size_t least_idle_ = 0;  // since some were dismissed: so many workers were not needed
  std::size_t dismissed_ = 0;   // workers that are to end
  bool finished_ = false;
};

}  // namespace attend::serve
