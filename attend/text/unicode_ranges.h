// The table behind properties() of unicode.h.
#pragma once
#include <cstdint>
#include <span>

namespace attend {

/// From this code point to the next range's first, all have these properties.
struct UnicodeRange {
  std::uint32_t first;
  std::uint16_t properties;
};
std::span<const UnicodeRange> unicode_ranges();

}  // namespace attend
