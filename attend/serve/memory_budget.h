// The memory that all requests together may use. A request reserves an estimate of what it needs before the work, so
// that many large requests are refused instead of filling the machine's memory.
#pragma once
#include <atomic>
#include <cstdint>
#include <memory>
#include <string_view>

namespace attend::serve {

/// Safe from many threads. Reservations must not outlive it.
class MemoryBudget {
 public:
  /// `bytes` 0: half of the memory that this process can still use.
  explicit MemoryBudget(std::int64_t bytes);

  /// The memory of one request, given back when it is destroyed.
  class Reservation {
   public:
    explicit Reservation(MemoryBudget& budget) : budget_(budget) {}
    ~Reservation();
    Reservation(const Reservation&) = delete;
    Reservation& operator=(const Reservation&) = delete;
    /// Reserves more. Throws ApiError: too_large_for_memory (413) if the request can never fit, memory_full (503) if it
    /// does not fit now. Not safe from many threads.
    void add(double bytes);

   private:
    MemoryBudget& budget_;
    std::int64_t bytes_ = 0;
  };

  std::int64_t bytes() const { return bytes_; }
  std::int64_t reserved() const { return reserved_; }

 private:
  std::int64_t bytes_;
  std::atomic<std::int64_t> reserved_ = 0;
};

/// Estimate of the memory that tokenisation needs for each byte of a text. SentencePiece needs most, as measured.
constexpr double kBytesToTokenize = 200;
/// Estimate of the memory that a body needs while it is parsed, and as JSON.
double parsed_bytes(std::string_view body);

}  // namespace attend::serve
