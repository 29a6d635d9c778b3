#include "attend/core/finite.h"

#include <gtest/gtest.h>

#include <limits>
#include <vector>

#include "tests/support/errors.h"

namespace attend {
namespace {

TEST(Finite, FindsNanAndInfinityAtEveryPlace) {
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  for (const float bad : {std::numeric_limits<float>::quiet_NaN(), kInfinity, -kInfinity})
    for (std::size_t at = 0; at < 37; ++at) {
      std::vector<float> numbers(37, std::numeric_limits<float>::max());
      EXPECT_TRUE(all_finite(numbers));
      numbers[at] = bad;
      EXPECT_FALSE(all_finite(numbers)) << bad << " at " << at;
    }
  EXPECT_TRUE(all_finite({}));
}

TEST(Finite, TheErrorNamesTheTaskAndTheWeights) {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  EXPECT_ERROR(check_finite("classify", std::span(&nan, 1)),
               "[classify] the model gives numbers that are not finite; are its weights damaged?");
  EXPECT_THROW(check_finite("classify", std::span(&nan, 1)), ModelError);
}

}  // namespace
}  // namespace attend
