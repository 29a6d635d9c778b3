// Random choices for the grammar. The same key gives the same choices.
#pragma once
#include <cstdint>
#include <iterator>

#include "attend/core/random.h"

namespace attend::phrases {

class Dice {
 public:
  explicit Dice(PhiloxKey key) : key_(key) {}

  /// A uniform random number from 0 to n - 1.
  std::size_t below(std::size_t n) {
    const std::uint64_t bits = philox(key_, thrown_++)[0];
    return static_cast<std::size_t>(bits * n >> 32);
  }
  /// True with this probability, in percent.
  bool percent(std::size_t chance) { return below(100) < chance; }
  /// A uniform random element of a list.
  template <typename List>
  const auto& pick(const List& list) {
    return *(std::begin(list) + static_cast<std::ptrdiff_t>(below(std::size(list))));
  }
  template <typename Value>
  Value pick(std::initializer_list<Value> list) {
    return *(list.begin() + below(list.size()));
  }

 private:
  PhiloxKey key_;
  std::uint64_t thrown_ = 0;
};

}  // namespace attend::phrases
