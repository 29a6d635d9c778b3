// Passes tokens and texts from the model thread to the thread that answers the request.
#pragma once
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <deque>
#include <exception>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "attend/tasks/language_model/language_model.h"

namespace attend::serve {

struct StreamEvent {
  struct Token {
    std::int32_t id;
    double log_probability;
    std::vector<std::pair<std::int32_t, double>> best;  ///< the most likely tokens: ids and log-probabilities
  };
  std::size_t prompt = 0, sample = 0;
  std::optional<Token> token = {};
  std::string text = {};
  std::vector<Generation> done = {};  ///< the texts of a prompt; its last event
};

class EventStream {
 public:
  void push(StreamEvent&& event) {
    {
      const std::lock_guard lock(mutex_);
      events_.push_back(std::move(event));
    }
    arrived_.notify_one();
  }
  /// Ends the stream: after the events so far, pop() throws this error. Needs no memory.
  void fail(std::exception_ptr error) noexcept {
    {
      const std::lock_guard lock(mutex_);
      failed_ = std::move(error);
    }
    arrived_.notify_one();
  }
  /// Waits for the next event; returns none after the timeout.
  std::optional<StreamEvent> pop(std::chrono::milliseconds timeout) {
    std::unique_lock lock(mutex_);
    if (!arrived_.wait_for(lock, timeout, [&] { return !events_.empty() || failed_; })) return {};
    if (events_.empty()) std::rethrow_exception(failed_);
    StreamEvent event = std::move(events_.front());
    events_.pop_front();
    return event;
  }

  std::atomic<bool> abandoned = false;  ///< the client is gone: generation can stop

 private:
  std::mutex mutex_;
  std::condition_variable arrived_;
  std::deque<StreamEvent> events_;
  std::exception_ptr failed_;
};

}  // namespace attend::serve
