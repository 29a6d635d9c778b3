#include "attend/ops/int8.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "attend/core/random.h"
#include "attend/core/threads.h"
#include "attend/ops/embedding.h"
#include "attend/ops/linear.h"
#include "attend/ops/tape.h"
#include "tests/support/errors.h"

namespace attend {
namespace {

Tensor random(const Shape& shape) {
  Tensor x = Tensor::empty(shape);
  fill_normal(x, 0.f, 1.f);
  return x;
}

TEST(Int8, TheLargestWeightOfARowIsExactAndOthersAreWithinHalfAStep) {
  const Tensor weight = random({37, 53});
  std::fill_n(weight.data() + 5 * 53, 53, 0.f);
  const Int8Matrix matrix = quantise(weight);
  const Tensor again = restore(matrix);
  EXPECT_EQ(matrix.scales.data()[5], 0.f);
  for (std::int64_t i = 0; i < 37; ++i) {
    float most = 0;
    for (std::int64_t j = 0; j < 53; ++j) {
      const std::int64_t at = i * 53 + j;
      most = std::max(most, std::abs(again.data()[at]));
      EXPECT_NEAR(again.data()[at], weight.data()[at], 0.5001f * matrix.scales.data()[i]);
    }
    EXPECT_FLOAT_EQ(most, 127.f * matrix.scales.data()[i]);
  }
}

TEST(Int8, ProductsEqualThoseOfTheRestoredWeights) {
  for (const std::int64_t k : {1, 15, 16, 33, 70, 1100, 2050})
    for (const std::int64_t n : {1, 5, 8, 67})
      for (const std::int64_t m : {1, 2, 7, 64, 65, 90}) {
        const Tensor x = random({m, k}), bias = random({n});
        const Int8Matrix matrix = quantise(random({n, k}));
        const Tensor y = linear(x, matrix, bias), expected = linear(x, restore(matrix), bias);
        // The input is rounded to 15 bits, in each of k products.
        const double close = 5e-4 * std::sqrt(static_cast<double>(k)) + 1e-5;
        for (std::int64_t i = 0; i < y.numel(); ++i)
          ASSERT_NEAR(y.data()[i], expected.data()[i], close) << "m " << m << " n " << n << " k " << k << " at " << i;
      }
}

TEST(Int8, AnInputThatIsNotFiniteGivesNoFiniteProducts) {
  const Int8Matrix matrix = quantise(random({5, 37}));
  for (const float bad : {std::numeric_limits<float>::quiet_NaN(), std::numeric_limits<float>::infinity()})
    for (const std::int64_t at : {0, 20, 36}) {
      const Tensor x = random({2, 37});
      x.data()[37 + at] = bad;
      const Tensor y = linear(x, matrix);
      for (std::int64_t j = 0; j < 5; ++j) {
        EXPECT_TRUE(std::isfinite(y.data()[j]));
        EXPECT_FALSE(std::isfinite(y.data()[5 + j])) << bad << " at " << at;
      }
    }
}

TEST(Int8, LargeSumsDoNotOverflow) {
  const Int8Matrix matrix = quantise(Tensor::full({3, 5000}, -1.f));
  EXPECT_NEAR(linear(Tensor::full({1, 5000}, 1.f), matrix).data()[2], -5000.f, 0.5f);
}

TEST(Int8, ARowHasTheSameBitsAloneInABatchAndOnAnyNumberOfThreads) {
  const int before = threads();
  const Tensor x = random({29, 515});
  const Int8Matrix matrix = quantise(random({301, 515}));
  set_threads(2);
  const Tensor all = linear(x, matrix);
  set_threads(1);
  for (std::int64_t i = 0; i < 29; ++i)
    EXPECT_EQ(linear(x.view_rows(i, i + 1), matrix).to_vector(), all.view_rows(i, i + 1).to_vector());
  set_threads(before);
}

TEST(Int8, ActivationsAndEmbeddingsEqualThoseOfRestoredWeights) {
  const Int8Matrix matrix = quantise(random({11, 6}));
  const Tensor x = random({2, 3, 6}), bias = random({11});
  const Tensor y = linear(x, matrix, bias, Activation::gelu_tanh);
  EXPECT_EQ(y.shape(), (Shape{2, 3, 11}));
  const Tensor expected = linear(x, restore(matrix), bias, Activation::gelu_tanh);
  for (std::int64_t i = 0; i < y.numel(); ++i) EXPECT_NEAR(y.data()[i], expected.data()[i], 1e-3f);
  const Tensor ids = Tensor::ids({3, 10, 3, 0}, {2, 2});
  EXPECT_EQ(embedding(matrix, ids).to_vector(), embedding(restore(matrix), ids).to_vector());
}

TEST(Int8, WrongInputIsReported) {
  const Int8Matrix matrix = quantise(random({4, 6}));
  EXPECT_ERROR(linear(random({2, 5}), matrix), "got x [2, 5] and weight [4, 6]");
  EXPECT_ERROR(linear(random({2, 6}), matrix, random({3})), "got bias [3], expected [4]");
  EXPECT_ERROR(linear(random({2, 6}), {matrix.values, random({3})}), "the matrix needs one scale for each row");
  EXPECT_ERROR(embedding(matrix, Tensor::ids({4}, {1})), "id 4 at position 0");
  EXPECT_ERROR(quantise(random({4})), "wrong shape of the weight");
  EXPECT_ERROR(quantise(Tensor::full({2, 2}, std::numeric_limits<float>::infinity())), "contains infinity or NaN");
}

}  // namespace
}  // namespace attend
