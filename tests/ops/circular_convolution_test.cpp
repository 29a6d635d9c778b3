#include "attend/ops/circular_convolution.h"

#include <gtest/gtest.h>

#include "tests/support/errors.h"
#include "tests/support/golden.h"
#include "tests/support/gradcheck.h"

namespace attend {
namespace {

using test::normal;
using test::Tensors;

TEST(CircularConvolution, EqualsTheFormula) {
  for (const auto& [n, k] : {std::pair{1, 1}, {3, 3}, {5, 3}, {40, 7}}) {
    const Tensor w = normal({3, n}, 1), s = normal({3, k}, 2), y = circular_convolution(w, s);
    const Tensor expected = Tensor::zeros({3, n});
    for (int b = 0; b < 3; ++b)
      for (int i = 0; i < n; ++i)
        for (int o = -(k / 2); o <= k / 2; ++o)
          expected.data()[b * n + i] += s.data()[b * k + o + k / 2] * w.data()[b * n + (i - o + n) % n];
    EXPECT_TRUE(test::close(y, expected, {1e-5f, 1e-5f})) << "N = " << n << ", K = " << k;
  }
}

TEST(CircularConvolution, LaterElementsShiftForwardAndAround) {
  const Tensor y = circular_convolution(Tensor::from({0, 0, 0, 1}, {1, 4}), Tensor::from({0, 0, 1}, {1, 3}));
  EXPECT_EQ(y.to_vector(), (std::vector<float>{1, 0, 0, 0}));
}

TEST(CircularConvolution, GradientsMatchFiniteDifferences) {
  const auto run = [](const Tensors& x) { return circular_convolution(x[0], x[1]); };
  test::expect_gradients(run, {normal({2, 11}, 1), normal({2, 5}, 2)});
  test::expect_gradients(run, {normal({1, 3}, 1), normal({1, 3}, 2)});
}

TEST(CircularConvolution, AnEmptyBatchWorks) {
  EXPECT_EQ(circular_convolution(normal({0, 4}), normal({0, 3})).shape(), (Shape{0, 4}));
}

TEST(CircularConvolution, WrongShapesAreReported) {
  EXPECT_ERROR(circular_convolution(normal({2, 4}), normal({2, 2})), "[circular_convolution]");
  EXPECT_ERROR(circular_convolution(normal({2, 4}), normal({2, 2})), "w [2, 4] and s [2, 2]");
  EXPECT_ERROR(circular_convolution(normal({2, 3}), normal({2, 5})), "at most N");
}

}  // namespace
}  // namespace attend
