#include "attend/ops/linear.h"

#include <gtest/gtest.h>

#include "tests/support/errors.h"
#include "tests/support/gradcheck.h"

namespace attend {
namespace {

using test::expect_gradients;
using test::normal;
using test::Tensors;

TEST(Linear, GradientsHoldForEveryActivationWithAndWithoutBias) {
  for (const Activation activation : {Activation::none, Activation::gelu, Activation::gelu_tanh, Activation::silu,
                                      Activation::tanh, Activation::sigmoid}) {
    SCOPED_TRACE(static_cast<int>(activation));
    const Tensors inputs = {normal({3, 5, 7}, 1), normal({11, 7}, 2, 0.4f), normal({11}, 3)};
    expect_gradients([=](const Tensors& x) { return linear(x[0], x[1], x[2], activation); }, inputs);
    expect_gradients([=](const Tensors& x) { return linear(x[0], x[1], {}, activation); }, {inputs[0], inputs[1]});
  }
}

TEST(Linear, AnEmptyBatchGivesAnEmptyResultAndZeroGradients) {
  Tensor x = Tensor::zeros({0, 3}), weight = normal({2, 3}), bias = normal({2});
  require_grad(weight), require_grad(bias);
  const Tensor y = linear(x, weight, bias, Activation::gelu);
  EXPECT_EQ(y.shape(), Shape({0, 2}));
  backward(y, Tensor::zeros({0, 2}));
  EXPECT_EQ(grad(weight).to_vector(), std::vector<float>(6, 0.f));
  EXPECT_EQ(grad(bias).to_vector(), std::vector<float>(2, 0.f));
}

TEST(Linear, ShapesThatDoNotFitAreNamed) {
  EXPECT_ERROR(
      linear(Tensor::zeros({32, 25, 512}), Tensor::zeros({2048, 256})),
      "[linear] the input's last dimension does not fit the weight: got x [32, 25, 512] and weight [2048, 256], "
      "expected x [..., 256]");
  EXPECT_ERROR(linear(Tensor::zeros({2, 3}), Tensor::zeros({4, 3}), Tensor::zeros({3})), "expected bias [4]");
  EXPECT_ERROR(linear(Tensor::zeros({2, 3}), Tensor::zeros({3})), "expected [N, K]");
}

}  // namespace
}  // namespace attend
