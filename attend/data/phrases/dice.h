// Chance for the grammar: the same key throws the same.
#pragma once
#include <cstdint>
#include <iterator>

#include "attend/core/random.h"

namespace attend::phrases {

class Dice {
 public:
  explicit Dice(PhiloxKey key) : key_(key) {}

  /// 0 … n - 1, all alike.
  std::size_t below(std::size_t n) {
    const std::uint64_t bits = philox(key_, thrown_++)[0];
    return static_cast<std::size_t>(bits * n >> 32);
  }
  /// True in so many of 100 throws.
  bool percent(std::size_t chance) { return below(100) < chance; }
  /// One of a list, all alike.
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
