#include "attend/ops/rotary.h"

#include <gtest/gtest.h>

#include <cmath>

#include "attend/core/threads.h"
#include "attend/ops/arithmetic.h"
#include "tests/support/errors.h"
#include "tests/support/golden.h"
#include "tests/support/gradcheck.h"

namespace attend {
namespace {

using test::Tensors;
constexpr RotaryLayout kLayouts[] = {RotaryLayout::halves, RotaryLayout::interleaved};

TEST(Rotary, FrequenciesAreThoseOfThePaper) {
  const std::vector<double> frequencies = rotary_frequencies(8);
  ASSERT_EQ(frequencies.size(), 4u);
  for (std::size_t i = 0; i < 4; ++i) EXPECT_DOUBLE_EQ(frequencies[i], std::pow(10., -static_cast<double>(i)));
  EXPECT_ERROR(rotary_frequencies(3), "[rotary_frequencies] rotary_dim must be even: got 3");
}

TEST(Rotary, LargePositionsArePrecise) {
  const RotaryTable table(100001, std::vector{1., 0.1});
  EXPECT_NEAR(table.cosines.data()[200000], std::cos(100000.), 1e-7);
  EXPECT_NEAR(table.sines.data()[200001], std::sin(10000.), 1e-7);
}

TEST(Rotary, PairsOfBothLayoutsAreRotatedAndTheRestIsUnchanged) {
  // Two heads of 5 features, and 3 more features. 4 features of each head are rotated: the first pair by 90 degrees,
  // the second by 0.
  const double quarter = std::acos(-1.) / 2;
  const Tensor x = Tensor::from({1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13}, {1, 13});
  const Tensor position = Tensor::ids({1}, {1});
  const auto rotated = [&](RotaryLayout layout) {
    return rotate_heads(x, 2, 5, position, RotaryTable(2, std::vector{quarter, 0.}, layout));
  };
  EXPECT_TRUE(
      test::close(rotated(RotaryLayout::halves), Tensor::from({-3, 2, 1, 4, 5, -8, 7, 6, 9, 10, 11, 12, 13}, {1, 13})));
  EXPECT_TRUE(test::close(rotated(RotaryLayout::interleaved),
                          Tensor::from({-2, 1, 3, 4, 5, -7, 6, 8, 9, 10, 11, 12, 13}, {1, 13})));
}

TEST(Rotary, ScoresDependOnlyOnTheDistance) {
  for (const RotaryLayout layout : kLayouts) {
    const RotaryTable table(50, rotary_frequencies(14), layout);
    const Tensor q = test::normal({1, 14}, 1), k = test::normal({1, 14}, 2);
    const auto score = [&](std::int32_t query, std::int32_t key) {
      const Tensor a = rotate_heads(q, 1, 14, Tensor::ids({query}, {1}), table);
      const Tensor b = rotate_heads(k, 1, 14, Tensor::ids({key}, {1}), table);
      float sum = 0;
      for (int i = 0; i < 14; ++i) sum += a.data()[i] * b.data()[i];
      return sum;
    };
    for (const std::int32_t distance : {0, 1, 7}) {
      EXPECT_NEAR(score(distance, 0), score(20 + distance, 20), 1e-5);
      EXPECT_NEAR(score(0, distance), score(20, 20 + distance), 1e-5);
    }
  }
}

TEST(Rotary, GradientsMatchFiniteDifferences) {
  const Tensor positions = Tensor::ids({0, 3, 9, 1, 1, 5}, {2, 3});
  for (const RotaryLayout layout : kLayouts)
    for (const std::int64_t rotary : {2, 6, 38}) {
      const RotaryTable table(10, rotary_frequencies(rotary), layout);
      const std::int64_t head_dim = rotary + 1;
      test::expect_gradients([&](const Tensors& in) { return rotate_heads(in[0], 2, head_dim, positions, table); },
                             {test::normal({2, 3, 3 * head_dim}, 1)});
      // x is used twice, so that gradients are accumulated.
      test::expect_gradients(
          [&](const Tensors& in) {
            return rotate_heads(in[0], 2, head_dim, positions, table) *
                   rotate_heads(in[0], 1, head_dim, positions, table);
          },
          {test::normal({2, 3, 3 * head_dim}, 2)});
    }
}

TEST(Rotary, OnlyATemporaryIsRotatedInPlace) {
  const RotaryTable table(4, rotary_frequencies(6));
  const Tensor positions = Tensor::ids({1, 3}, {2});
  Tensor x = test::normal({2, 7}, 1);
  const std::vector<float> before = x.to_vector();
  const Tensor apart = rotate_heads(x, 1, 6, positions, table);
  EXPECT_EQ(x.to_vector(), before);
  EXPECT_FALSE(apart.shares_memory_with(x));
  const float* memory = x.data();
  const Tensor in_place = rotate_heads(std::move(x), 1, 6, positions, table);
  EXPECT_EQ(in_place.data(), memory);
  EXPECT_EQ(in_place.to_vector(), apart.to_vector());
  // Also with gradients: the backward pass does not need the values.
  test::expect_gradients([&](const Tensors& in) { return rotate_heads(2.f * in[0], 1, 6, positions, table); },
                         {test::normal({2, 7}, 2)});
}

TEST(Rotary, EmptyShapesWorkAndWrongOnesAreReported) {
  const RotaryTable table(4, rotary_frequencies(6));
  const Tensor none = Tensor::zeros({0}, DType::i32), one = Tensor::ids({1}, {1});
  EXPECT_EQ(rotate_heads(Tensor::zeros({0, 6}), 1, 6, none, table).shape(), (Shape{0, 6}));
  const Tensor row = test::normal({1, 6});
  EXPECT_EQ(rotate_heads(row, 0, 6, one, table).to_vector(), row.to_vector());
  EXPECT_EQ(rotate_heads(row, 1, 6, one, RotaryTable(4, {})).to_vector(), row.to_vector());
  EXPECT_ERROR(rotate_heads(row, 2, 6, one, table),
               "[rotate_heads] the heads do not fit x: got x [1, 6] and 2 heads of 6, expected x [..., W] with W at "
               "least 12");
  EXPECT_ERROR(rotate_heads(row, 1, 5, one, table),
               "[rotate_heads] head_dim is smaller than the number of rotated features");
  EXPECT_ERROR(rotate_heads(row, 1, 6, none, table), "[rotate_heads] each row needs a position");
  EXPECT_ERROR(rotate_heads(row, 1, 6, Tensor::ids({4}, {1}), table),
               "[rotate_heads] position 4 of row 0 is not in the table, expected 0 to 3");
  EXPECT_ERROR(rotate_heads(row, 1, 6, Tensor::ids({-1}, {1}), table), "[rotate_heads] position -1 of row 0");
  EXPECT_ERROR(rotate_heads(row, 1, 6, Tensor::zeros({1}), table), "[rotate_heads] positions has the wrong dtype");
  EXPECT_ERROR(rotate_heads(row, 1, 6, one, {}), "[rotate_heads] the table is undefined");
}

}  // namespace
}  // namespace attend
