// The table for properties() in unicode.h.
#pragma once
#include <cstdint>
#include <span>

namespace attend {

/// All code points from `first` up to the next range have these properties.
struct UnicodeRange {
  std::uint32_t first;
  std::uint16_t properties;
};
std::span<const UnicodeRange> unicode_ranges();

}  // namespace attend
