#include "attend/core/finite.h"

#include <bit>
#include <cstdint>

namespace attend {

bool all_finite(std::span<const float> numbers) {
  constexpr std::uint32_t kExponent = 0x7f800000;  // all of its bits are set in NaN and in infinities only
  std::uint32_t found = 0;
  for (const float number : numbers)  // without a branch, so that the compiler uses vectors
    found |= static_cast<std::uint32_t>((std::bit_cast<std::uint32_t>(number) & kExponent) == kExponent);
  return found == 0;
}

void fail_not_finite(std::string_view where) {
  fail<ModelError>(where, "the model gives numbers that are not finite; are its weights damaged?");
}

}  // namespace attend
