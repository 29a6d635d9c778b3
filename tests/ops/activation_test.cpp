#include "attend/ops/activation.h"

#include <gtest/gtest.h>

#include "tests/support/errors.h"
#include "tests/support/gradcheck.h"

namespace attend {
namespace {

using test::Tensors;

TEST(Activation, GradientsMatchFiniteDifferencesAtOddShapes) {
  for (const Activation activation : {Activation::relu, Activation::gelu, Activation::gelu_tanh, Activation::silu,
                                      Activation::tanh, Activation::sigmoid})
    for (const Shape& shape : {Shape{1}, Shape{3, 7, 2}, Shape{257}, Shape{0, 5}}) {
      Tensor x = test::normal(shape);
      for (float& value : x.span())
        value += value > 0 ? 0.05f : -0.05f;  // away from 0, where relu is not differentiable
      test::expect_gradients([&](const Tensors& in) { return activate(in[0], activation); }, {x});
    }
}

TEST(Activation, WrongDtypesAreReported) {
  EXPECT_ERROR(relu(Tensor()), "[activate] x is an undefined tensor");
  EXPECT_ERROR(relu(Tensor::ids({1}, {1})), "[activate] x has the wrong dtype: got int32 [1], expected float32");
}

TEST(Activation, NoneReturnsItsInput) {
  const Tensor x = test::normal({3});
  EXPECT_TRUE(activate(x, Activation::none).shares_memory_with(x));
}

TEST(Activation, TwoUsesOfOneInputAddTheirGradients) {
  Tensor x = test::normal({11});
  test::expect_gradients([](const Tensors& in) { return Tensors{gelu(in[0]), silu(in[0])}; }, {x});
}

}  // namespace
}  // namespace attend
