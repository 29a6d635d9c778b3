// Threads that work for connections, apart from the model thread: WorkerThread for short tasks such as tokenisation,
// LongWork for tasks that may take seconds.
#pragma once
#include <condition_variable>
#include <deque>
#include <functional>
#include <list>
#include <memory>
#include <mutex>
#include <thread>

#include "attend/core/error.h"
#include "attend/core/stop.h"
#include "attend/serve/patience.h"

namespace attend::serve {

/// Lets other threads run first from now on, if this thread has used more than a tenth of a second of CPU time.
void give_way_if_long();

/// A function that runs on another thread, and its result. The function owns what it uses: whoever waits may leave.
template <typename Result>
struct Task {
  std::function<Result()> run;
  bool gives_way = false;  ///< see give_way_if_long()
  std::promise<Result> promise = {};
  std::atomic<bool> abandoned = false;

  void operator()() {
    if (abandoned) return;
    const StopCheck check([this] {
      if (abandoned) throw Error("the task was abandoned");
      if (gives_way) give_way_if_long();
    });
    try {
      Result result = run();
      run = {};  // before whoever waits goes on
      promise.set_value(std::move(result));
    } catch (...) {
      run = {};
      promise.set_exception(std::current_exception());
    }
  }
};

/// Runs the tasks of all connections one after another. A tokenizer has a cache for each thread that uses it; so
/// hundreds of connections share one cache.
class WorkerThread {
 public:
  WorkerThread() : thread_([this] { run(); }) {}
  ~WorkerThread();
  WorkerThread(const WorkerThread&) = delete;
  WorkerThread& operator=(const WorkerThread&) = delete;

  /// Runs f() on this thread; returns its result, or throws its exception. Throws as Patience::check().
  template <typename F>
  auto ask(F f, const Patience& patience) {
    using Result = decltype(f());
    const std::shared_ptr<Task<Result>> task(new Task<Result>{std::move(f)});
    std::future<Result> result = task->promise.get_future();
    push([task] { (*task)(); });
    return wait_for(result, task->abandoned, patience);
  }

 private:
  void push(std::function<void()> task);
  void run();

  std::mutex mutex_;
  std::condition_variable arrived_;
  std::deque<std::function<void()>> tasks_;  // at most one of each connection, and abandoned ones that take no time
  bool ending_ = false;
  std::thread thread_;  // last: it uses the others
};

/// Runs each task on a thread of its own, few at a time, in the order of their arrival. A task that takes long gets a
/// low priority. So a large text does not delay others, and the memory that a thread keeps for itself is freed with it.
/// A task that nobody waits for any more ends at its next check_stop().
class LongWork {
 public:
  LongWork() = default;
  ~LongWork();
  LongWork(const LongWork&) = delete;
  LongWork& operator=(const LongWork&) = delete;

  /// As WorkerThread::ask(). Waits first until fewer than kAtOnce other tasks run.
  template <typename F>
  auto ask(F f, const Patience& patience) {
    using Result = decltype(f());
    const std::shared_ptr<Task<Result>> task(new Task<Result>{std::move(f), true});
    std::future<Result> result = task->promise.get_future();
    start([task] { (*task)(); }, patience);
    return wait_for(result, task->abandoned, patience);
  }

 private:
  static constexpr std::size_t kAtOnce = 2;
  struct Running {
    std::thread thread = {};
    bool done = false;
  };
  void start(std::function<void()> task, const Patience& patience);
  void join_finished();

  std::mutex mutex_;
  std::condition_variable finished_;
  std::list<Running> running_;
  std::list<char> line_;  // an element for each task that waits for its place
};

}  // namespace attend::serve
