// One thread that tokenizes for all connections, one text at a time. A tokenizer has a cache for each thread that uses
// it; so hundreds of connections share one cache.
#pragma once
#include <condition_variable>
#include <deque>
#include <functional>
#include <future>
#include <memory>
#include <mutex>
#include <thread>

namespace attend::serve {

class TokenizerThread {
 public:
  TokenizerThread() : thread_([this] { run(); }) {}
  ~TokenizerThread() {
    {
      const std::lock_guard lock(mutex_);
      ending_ = true;
    }
    arrived_.notify_one();
    thread_.join();
  }
  TokenizerThread(const TokenizerThread&) = delete;
  TokenizerThread& operator=(const TokenizerThread&) = delete;

  /// Runs f() on this thread; returns its result, or throws its exception.
  template <typename F>
  auto ask(F&& f) {
    // Shared, since the thread may still hold the task when the result is ready.
    const auto task = std::make_shared<std::packaged_task<decltype(f())()>>(std::forward<F>(f));
    auto answer = task->get_future();
    {
      const std::lock_guard lock(mutex_);
      tasks_.push_back([task] { (*task)(); });
    }
    arrived_.notify_one();
    return answer.get();
  }

 private:
  void run();

  std::mutex mutex_;
  std::condition_variable arrived_;
  std::deque<std::function<void()>> tasks_;
  bool ending_ = false;
  std::thread thread_;  // last: it uses the others
};

}  // namespace attend::serve
