// A thread that does small things for others, one at a time. Tokenizers keep what they have seen for each thread that
// uses them: hundreds of connections had better use one.
#pragma once
#include <condition_variable>
#include <deque>
#include <functional>
#include <future>
#include <memory>
#include <mutex>
#include <thread>

namespace attend::serve {

class Clerk {
 public:
  Clerk() : thread_([this] { run(); }) {}
  ~Clerk() {
    {
      const std::lock_guard lock(mutex_);
      ending_ = true;
    }
    arrived_.notify_one();
    thread_.join();
  }
  Clerk(const Clerk&) = delete;
  Clerk& operator=(const Clerk&) = delete;

  /// What f() gives, or throws what it throws.
  template <typename F>
  auto ask(F&& f) {
    // Shared: the clerk may still hold it when the answer is there.
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
