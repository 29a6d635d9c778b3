#include "tests/support/gradcheck.h"

#include <gtest/gtest-spi.h>

#include "tests/support/golden.h"

namespace attend::test {
namespace {

/// y = x³. Its gradient is correct if factor is 3.
Tensor cube(const Tensor& x, float factor) {
  Tensor y = Tensor::like(x);
  for (std::int64_t i = 0; i < x.numel(); ++i) y.data()[i] = x.data()[i] * x.data()[i] * x.data()[i];
  return record("cube", y, {x}, [x = x.detach(), factor](const Tensor& dy, Grads& grads) {
    const Tensor dx = grads.sum(0);
    for (std::int64_t i = 0; i < x.numel(); ++i) dx.data()[i] += factor * x.data()[i] * x.data()[i] * dy.data()[i];
  });
}

TEST(GradCheck, AcceptsTheRightGradient) {
  expect_gradients([](const Tensors& x) { return cube(x[0], 3.f); }, {normal({5, 3})});
  expect_gradients([](const Tensors& x) { return cube(x[0], 3.f); }, {normal({0, 3})});
  expect_gradients(Function([](const Tensors& x) {
                     return Tensors{cube(x[0], 3.f), cube(cube(x[0], 3.f), 3.f)};
                   }),
                   {normal({3})});
}

TEST(GradCheck, FindsAWrongGradient) {
  EXPECT_NONFATAL_FAILURE(
      expect_gradients([](const Tensors& x) { return cube(x[0], 4.f); }, {Tensor::from({1.5f}, {1})}),
      "gradient of input 0 [1] at element 0");
}

TEST(Close, ComparesShapesValuesAndNaN) {
  const Tensor x = Tensor::from({1.f, 2.f}, {2});
  EXPECT_TRUE(close(x, Tensor::from({1.f, 2.00001f}, {2})));
  EXPECT_FALSE(close(x, Tensor::from({1.f, 2.001f}, {2})));
  EXPECT_FALSE(close(x, Tensor::from({1.f, 2.f}, {1, 2})));
  EXPECT_FALSE(close(Tensor::from({1.f, NAN}, {2}), x));
}

}  // namespace
}  // namespace attend::test
