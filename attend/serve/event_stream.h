// Tokens and texts on their way from the thread of the models to the one that answers the request.
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
    std::vector<std::pair<std::int32_t, double>> best;  ///< ids and logarithms of probabilities
  };
  std::size_t prompt = 0, sample = 0;
  std::optional<Token> token = {};
  std::string text = {};
  std::vector<Generation> done = {};  ///< of a prompt, its texts: the last that is heard of it
  std::exception_ptr failed = {};     ///< nothing more comes
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
  /// The next one, or none when the time is over.
  std::optional<StreamEvent> pop(std::chrono::milliseconds patience) {
    std::unique_lock lock(mutex_);
    if (!arrived_.wait_for(lock, patience, [&] { return !events_.empty(); })) return {};
    StreamEvent event = std::move(events_.front());
    events_.pop_front();
    return event;
  }

  std::atomic<bool> abandoned = false;  ///< nobody listens: what is not written yet need not be

 private:
  std::mutex mutex_;
  std::condition_variable arrived_;
  std::deque<StreamEvent> events_;
};

}  // namespace attend::serve
