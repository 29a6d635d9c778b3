#include "attend/attention/positions.h"

#include <gtest/gtest.h>

#include <cmath>

#include "attend/ops/matmul.h"
#include "attend/ops/tape.h"
#include "tests/support/errors.h"
#include "tests/support/gradcheck.h"

namespace attend {
namespace {

TEST(Positions, SinusoidsFollowThePapersFormulaInBothLayouts) {
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
  EXPECT_ERROR(position_rotation(1, 5), "pairs");
}

TEST(Positions, AreAddedOrConcatenated) {
  const Tensor x = test::normal({2, 3, 4});
  const Tensor added = SinusoidalPositions{}(x, 5), table = sinusoidal_positions(3, 4, 5);
  for (std::int64_t i = 0; i < x.numel(); ++i) EXPECT_EQ(added.data()[i], x.data()[i] + table.data()[i % 12]);
  const Tensor joined = SinusoidalPositions{.concatenate = true, .width = 6}(x);
  ASSERT_EQ(joined.shape(), Shape({2, 3, 10}));
  const Tensor columns = sinusoidal_positions(3, 6);
  for (std::int64_t row = 0; row < 6; ++row)
    for (std::int64_t c = 0; c < 10; ++c)
      EXPECT_EQ(joined.data()[row * 10 + c], c < 4 ? x.data()[row * 4 + c] : columns.data()[row % 3 * 6 + c - 4]);
}

TEST(Positions, LearnedOnesEndWhereTheyWereLearned) {
  LearnedPositions positions(5, 4);
  require_grad(positions.table.weight);
  const Tensor y = positions(test::normal({2, 3, 4}), 1);
  backward(y, Tensor::full(y.shape(), 1.f));
  const std::vector<float> gradient = grad(positions.table.weight).to_vector();
  EXPECT_EQ(gradient[0], 0.f);
  EXPECT_EQ(gradient[4], 2.f);  // both sentences
  EXPECT_EQ(gradient[16], 0.f);
  EXPECT_ERROR(positions(Tensor::zeros({1, 4, 4}), 2), "got 6, expected at most 5");
}

}  // namespace
}  // namespace attend
