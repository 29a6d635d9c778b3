// How long a request may wait for its answer, and how much memory it may use.
#pragma once
#include <atomic>
#include <chrono>
#include <functional>
#include <future>
#include <memory>

#include "attend/serve/memory_budget.h"

namespace attend::serve {

/// How often a waiting thread checks its deadline and its client.
constexpr std::chrono::milliseconds kPollInterval{50};

struct Patience {
  std::chrono::steady_clock::time_point deadline;
  std::function<bool()> hung_up;     ///< whether the client has closed the connection; may be empty
  const std::atomic<bool>* stopped;  ///< the server is shutting down
  std::shared_ptr<MemoryBudget::Reservation> memory = {};  ///< of the request, as long as a copy of this lives

  /// Throws ApiError when waiting has no use any more: shutting_down, hung_up, timeout.
  void check() const;
  /// Reserves memory for the request. Throws as MemoryBudget::Reservation::add().
  void reserve(double bytes) const {
    if (memory) memory->add(bytes);
  }
};

/// Waits for a result. If waiting has no use any more, sets `abandoned` and throws as check() does.
template <typename Result>
Result wait_for(std::future<Result>& result, std::atomic<bool>& abandoned, const Patience& patience) {
  try {
    while (result.wait_for(kPollInterval) != std::future_status::ready) patience.check();
  } catch (...) {
    abandoned = true;
    throw;
  }
  return result.get();
}

}  // namespace attend::serve
