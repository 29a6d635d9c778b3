#include "attend/attention/positions.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <vector>

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

TEST(Positions, TheLastQueryHasTheLastRowOfTheRelativeBias) {
  const std::int64_t H = 3;
  for (const bool bidirectional : {false, true}) {
    const RelativeBias bias(32, H, bidirectional, 128);
    for (const std::vector<std::int64_t>& lengths : {std::vector<std::int64_t>{5, 200, 1}, {40, 40}, {7}}) {
      const Tensor last = bias.last(lengths);
      const auto N = static_cast<std::int64_t>(lengths.size()), S = std::ranges::max(lengths);
      const bool shared = std::ranges::min(lengths) == S;
      ASSERT_EQ(last.shape(), (Shape{shared ? 1 : N, H, S}));
      for (std::int64_t n = 0; n < N; ++n) {
        const std::int64_t T = lengths[static_cast<std::size_t>(n)];
        const Tensor whole = bias(T, T);
        for (std::int64_t h = 0; h < H; ++h)
          for (std::int64_t s = 0; s < T; ++s) {
            const float of_key = last.data()[((shared ? 0 : n) * H + h) * S + s];
            ASSERT_EQ(of_key, whole.data()[(h * T + T - 1) * T + s]) << "length " << T << ", key " << s;
            ASSERT_EQ(of_key, bias.table.data()[bias.bucket(s - (T - 1)) * H + h]);
          }
      }
    }
  }
}

}  // namespace
}  // namespace attend
