#include "attend/serve/memory_budget.h"

#include <malloc.h>

#include <algorithm>
#include <string>

#include "attend/core/machine.h"
#include "attend/serve/api_error.h"
#include "attend/serve/fields.h"

namespace attend::serve {
namespace {

/// After a request with more than this, the allocator's free memory goes back to the system.
constexpr std::int64_t kLarge = 64 << 20;
constexpr std::int64_t kLeast = 64 << 20, kUnknown = std::int64_t{1} << 30;

std::int64_t default_budget() {
  const MemoryLimits limits = memory_limits();
  return limits.total == 0 ? kUnknown : std::max(limits.free / 2, kLeast);
}

std::string megabytes(std::int64_t bytes) { return std::to_string((bytes >> 20) + 1) + " MB"; }

}  // namespace

MemoryBudget::MemoryBudget(std::int64_t bytes) : bytes_(bytes > 0 ? bytes : default_budget()) {}

MemoryBudget::Reservation::~Reservation() {
  budget_.reserved_ -= bytes_;
  if (bytes_ > kLarge) ::malloc_trim(0);
}

void MemoryBudget::Reservation::add(double bytes) {
  const auto more = static_cast<std::int64_t>(std::clamp(bytes, 0.0, 0x1p60));
  if (bytes_ + more > budget_.bytes_)
    throw ApiError(413, "too_large_for_memory",
                   "the request needs about " + megabytes(bytes_ + more) + " of memory, expected at most " +
                       megabytes(budget_.bytes_) + "; send fewer or shorter texts");
  if ((budget_.reserved_ += more) > budget_.bytes_) {
    budget_.reserved_ -= more;
    ApiError error(503, "memory_full",
                   "other requests use the server's memory at present; this one needs about " +
                       megabytes(bytes_ + more) + " of " + megabytes(budget_.bytes_));
    error.retry_after = 1;
    throw error;
  }
  bytes_ += more;
}

double parsed_bytes(std::string_view body) {
  // Each value of an array or object begins after one of these. Inside texts they count as well, so there may be fewer
  // values; the parser refuses more than it allows.
  const auto marks = std::ranges::count_if(body, [](char c) { return c == ',' || c == '[' || c == '{' || c == ':'; });
  const auto values = std::min(static_cast<std::size_t>(marks), kMostValues);
  // The body, its texts in the JSON, and copies of them; and a value with its own block of memory, as measured.
  return 4.0 * static_cast<double>(body.size()) + 160.0 * static_cast<double>(values);
}

}  // namespace attend::serve
