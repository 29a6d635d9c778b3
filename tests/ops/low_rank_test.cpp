#include "attend/ops/low_rank.h"

#include <gtest/gtest.h>

#include "attend/core/random.h"
#include "attend/nn/linear.h"
#include "attend/ops/dropout.h"
#include "attend/ops/linear.h"
#include "tests/support/errors.h"
#include "tests/support/golden.h"
#include "tests/support/gradcheck.h"

namespace attend {
namespace {

using test::close;
using test::expect_gradients;
using test::normal;
using test::Tensors;

/// x Wᵀ and updates of its columns: 0 to 4, and 4 to 9 with the same A.
Tensor updated(const Tensors& x, float dropout) {
  const LowRank updates[] = {{x[2], x[3], 0.7f, dropout, 0}, {x[2], x[4], 0.7f, dropout, 4}, {x[5], x[6], 2.f, 0.f, 3}};
  return add_low_rank(linear(x[0], x[1]), x[0], updates);
}

Tensors inputs(std::int64_t rows) {
  return {normal({rows, 7}, 1), normal({11, 7}, 2, 0.4f), normal({3, 7}, 3), normal({4, 3}, 4),
          normal({5, 3}, 5),    normal({2, 7}, 6),        normal({6, 2}, 7)};
}

TEST(LowRank, EqualsTheMergedWeight) {
  for (const std::int64_t rows : {1, 15, 600}) {
    const Tensors x = inputs(rows);
    Tensor merged = x[1].copy();
    const auto add = [&](const Tensor& a, const Tensor& b, float scale, std::int64_t first) {
      for (std::int64_t i = 0; i < b.dim(0); ++i)
        for (std::int64_t j = 0; j < 7; ++j)
          for (std::int64_t r = 0; r < a.dim(0); ++r)
            merged.data()[(first + i) * 7 + j] += scale * b.data()[i * a.dim(0) + r] * a.data()[r * 7 + j];
    };
    add(x[2], x[3], 0.7f, 0), add(x[2], x[4], 0.7f, 4), add(x[5], x[6], 2.f, 3);
    EXPECT_TRUE(close(updated(x, 0.3f), linear(x[0], merged), {1e-4f, 1e-4f})) << rows;
  }
}

TEST(LowRank, GradientsMatchFiniteDifferencesWithAndWithoutDropout) {
  for (const float dropout : {0.f, 0.4f}) {
    expect_gradients(
        [=](const Tensors& x) {
          const Training training;
          default_generator().restore(5, 0);
          return Tensors{updated(x, dropout)};
        },
        inputs(5));
  }
}

TEST(LowRank, AnEmptyBatchGivesZeroGradients) {
  Tensors x = inputs(0);
  require_grad(x[2]), require_grad(x[3]);
  backward(updated(x, 0.f), Tensor::zeros({0, 11}));
  EXPECT_EQ(grad(x[2]).to_vector(), std::vector<float>(21, 0.f));
  EXPECT_EQ(grad(x[3]).to_vector(), std::vector<float>(12, 0.f));
}

TEST(LowRank, WrongShapesAreReported) {
  const Tensors x = inputs(2);
  const LowRank wrong[] = {{x[2], x[6]}}, late[] = {{x[2], x[3], 1.f, 0.f, 8}};
  EXPECT_ERROR(add_low_rank(linear(x[0], x[1]), x[0], wrong), "[low_rank] the update does not fit: got A [3, 7]");
  EXPECT_ERROR(add_low_rank(linear(x[0], x[1]), x[0], late), "does not fit");
}

TEST(LowRank, AnInt8LayerHasTheGradientsOfItsRestoredWeight) {
  const Int8Matrix matrix = quantise(normal({1500, 7}, 2));
  Linear int8(matrix.values, normal({1500}, 3), matrix.scales), plain(restore(matrix), int8.bias);
  const auto adapter = std::make_shared<const LowRank>(LowRank{normal({3, 7}, 4), normal({1500, 3}, 5), 0.5f});
  int8.adapter = plain.adapter = adapter;
  const auto gradient = [](const Linear& layer) {
    Tensor x = normal({9, 7}, 1);
    require_grad(x);
    const Tensor y = layer(x, Activation::tanh);
    backward(y, Tensor::full(y.shape(), 1.f));
    return grad(x);
  };
  EXPECT_TRUE(close(gradient(int8), gradient(plain), {5e-2f, 0.5f}));
  Tensor bias = normal({1500}, 3);
  require_grad(bias);
  EXPECT_ERROR(linear(normal({9, 7}, 1), matrix, bias), "cannot be trained");
}

}  // namespace
}  // namespace attend
