// A sequence of random numbers that depends on its key only.
#pragma once
#include <cstddef>
#include <cstdint>

#include "attend/core/random.h"

namespace attend {

class RandomSequence {
 public:
  explicit RandomSequence(PhiloxKey key) : key_(key) {}
  std::uint32_t bits() { return philox(key_, next_++)[0]; }
  /// A random integer in [0, count).
  std::size_t below(std::size_t count) {
    return static_cast<std::size_t>(static_cast<std::uint64_t>(bits()) * count >> 32);
  }
  float uniform() { return uniform_from(bits()); }

 private:
  PhiloxKey key_;
  std::uint64_t next_ = 0;
};

}  // namespace attend
