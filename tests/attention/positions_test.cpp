#include "attend/attention/positions.h"

#include <gtest/gtest.h>

#include <cmath>

#include "attend/ops/matmul.h"
#include "tests/support/errors.h"

namespace attend {
namespace {

TEST(Positions, SinusoidsFollowTheFormulaInBothLayouts) {
  const Tensor p = sinusoidal_positions(7, 6, 2), halves = sinusoidal_positions(7, 6, 2, PositionLayout::halves);
  for (std::int64_t t = 0; t < 7; ++t)
    for (std::int64_t i = 0; i < 3; ++i) {
      const double angle = static_cast<double>(t + 2) / std::pow(10000.0, 2.0 * static_cast<double>(i) / 6);
      EXPECT_NEAR(p.data()[t * 6 + 2 * i], std::sin(angle), 1e-6);
      EXPECT_NEAR(p.data()[t * 6 + 2 * i + 1], std::cos(angle), 1e-6);
      EXPECT_EQ(halves.data()[t * 6 + i], p.data()[t * 6 + 2 * i]);
      EXPECT_EQ(halves.data()[t * 6 + 3 + i], p.data()[t * 6 + 2 * i + 1]);
    }
  EXPECT_EQ(sinusoidal_positions(2, 5).shape(), Shape({2, 5}));
}

TEST(Positions, OneRotationShiftsEveryPositionByTheSameOffset) {
  const Tensor rotation = position_rotation(11, 16);
  const Tensor shifted = matmul(sinusoidal_positions(40, 16), rotation, {.transpose_b = true});
  const Tensor expected = sinusoidal_positions(40, 16, 11);
  for (std::int64_t i = 0; i < shifted.numel(); ++i) EXPECT_NEAR(shifted.data()[i], expected.data()[i], 1e-5);
  EXPECT_ERROR(position_rotation(1, 5), "D must be even");
}

}  // namespace
}  // namespace attend
