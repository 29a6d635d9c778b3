#include "attend/ops/gated.h"

#include <gtest/gtest.h>

#include "attend/ops/activation.h"
#include "attend/ops/arithmetic.h"
#include "attend/ops/concat.h"
#include "tests/support/errors.h"
#include "tests/support/golden.h"
#include "tests/support/gradcheck.h"

namespace attend {
namespace {

using test::Tensors;

constexpr Activation kAll[] = {Activation::none, Activation::relu, Activation::gelu,   Activation::gelu_tanh,
                               Activation::silu, Activation::tanh, Activation::sigmoid};

TEST(Gated, EqualsTheActivationOfTheGateTimesTheRest) {
  for (const Activation activation : kAll)
    for (const Shape& shape : {Shape{2}, Shape{3, 14}, Shape{2, 3, 134}, Shape{0, 6}, Shape{3, 0}}) {
      const Tensors x = {test::normal(shape, 1)};
      const auto fused = [&](const Tensors& in) { return Tensors{gated(in[0], activation)}; };
      const auto apart = [&](const Tensors& in) {
        const std::vector<Tensor> parts = split(in[0], 2, -1);
        return Tensors{activate(parts[0], activation) * parts[1]};
      };
      const test::Gradients got = test::gradients_of(fused, x), expected = test::gradients_of(apart, x);
      EXPECT_TRUE(test::close(got.results[0], expected.results[0]));
      EXPECT_TRUE(test::close(got.inputs[0], expected.inputs[0], {.absolute = 2e-6f}));
    }
}

TEST(Gated, GradientsMatchFiniteDifferences) {
  for (const Activation activation : kAll) {
    if (activation == Activation::relu) continue;  // not differentiable at 0; the golden file tests it elsewhere
    for (const Shape& shape : {Shape{2}, Shape{3, 14}, Shape{2, 3, 38}})
      test::expect_gradients([&](const Tensors& in) { return gated(in[0], activation); }, {test::normal(shape, 2)});
  }
}

TEST(Gated, AnInputThatIsUsedTwiceGetsBothGradients) {
  test::expect_gradients(
      [](const Tensors& in) { return gated(in[0], Activation::silu) * gated(in[0], Activation::gelu); },
      {test::normal({3, 14}, 2)}, {.tolerance = 5e-3f});
}

TEST(Gated, WrongShapesAreReported) {
  EXPECT_ERROR(gated(Tensor::zeros({2, 3}), Activation::silu),
               "[gated] the last dimension must be even: got x [2, 3], expected [..., 2·F]");
  EXPECT_ERROR(gated(Tensor::scalar(1.f), Activation::silu), "[gated] the last dimension must be even");
  EXPECT_ERROR(gated({}, Activation::silu), "[gated] x is an undefined tensor");
}

}  // namespace
}  // namespace attend
