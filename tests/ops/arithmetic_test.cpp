#include "attend/ops/arithmetic.h"

#include <gtest/gtest.h>

#include "attend/ops/tape.h"
#include "tests/support/errors.h"
#include "tests/support/gradcheck.h"

namespace attend {
namespace {

TEST(Arithmetic, IncompatibleShapesAreReported) {
  EXPECT_ERROR(Tensor::zeros({2, 3}) + Tensor::zeros({2}), "[add] the shapes cannot be broadcast: got [2, 3] and [2]");
  EXPECT_ERROR(Tensor::zeros({2, 3}) / Tensor::zeros({3, 3}), "[div] ");
  EXPECT_ERROR(Tensor::zeros({2}) * Tensor::zeros({2}, DType::i32), "[mul] b has the wrong dtype: got int32 [2]");
  EXPECT_ERROR(exp(Tensor()), "[exp] x is an undefined tensor");
}

TEST(Arithmetic, ATensorCanBeBothOperands) {
  Tensor x = Tensor::from({3.f, -2.f}, {2});
  require_grad(x);
  const Tensor& same = x;
  const Tensor y = x + x * same - x / same;
  EXPECT_EQ(y.to_vector(), (std::vector<float>{11.f, 1.f}));
  backward(y, Tensor::full({2}, 1.f));
  EXPECT_EQ(grad(x).to_vector(), (std::vector<float>{7.f, -3.f}));
}

TEST(Arithmetic, BothTermsOfASumKeepTheirOwnGradient) {
  Tensor a = Tensor::from({1.f, 2.f}, {2}), b = Tensor::from({5.f, 7.f}, {2});
  require_grad(a);
  require_grad(b);
  const Tensor y = (a + b) + a * 10.f;  // the gradient of a continues to grow after that of the sum was shared
  backward(y, Tensor::full({2}, 1.f));
  EXPECT_EQ(grad(a).to_vector(), (std::vector<float>{11.f, 11.f}));
  EXPECT_EQ(grad(b).to_vector(), (std::vector<float>{1.f, 1.f}));
}

TEST(Arithmetic, ScalarsCanBeOnEitherSide) {
  const Tensor x = Tensor::from({2.f, 4.f}, {2});
  EXPECT_EQ((1.f - x).to_vector(), (std::vector<float>{-1.f, -3.f}));
  EXPECT_EQ((x - 1.f).to_vector(), (std::vector<float>{1.f, 3.f}));
  EXPECT_EQ((8.f / x).to_vector(), (std::vector<float>{4.f, 2.f}));
  EXPECT_EQ((x / 2.f).to_vector(), (std::vector<float>{1.f, 2.f}));
  EXPECT_EQ((-x).to_vector(), (std::vector<float>{-2.f, -4.f}));
}

TEST(Arithmetic, EveryBroadcastOfFourDimensionsEqualsASimpleLoop) {
  const std::int64_t full[4] = {2, 3, 4, 5};
  for (int pattern = 0; pattern < 256; ++pattern) {  // which of the eight sizes are 1
    std::int64_t a_size[4], b_size[4], y_size[4];
    for (int d = 0; d < 4; ++d) {
      a_size[d] = pattern >> d & 1 ? 1 : full[d];
      b_size[d] = pattern >> (d + 4) & 1 ? 1 : full[d];
      y_size[d] = std::max(a_size[d], b_size[d]);
    }
    const Tensor a = test::normal(Shape(std::span<const std::int64_t>(a_size)), 1);
    const Tensor b = test::normal(Shape(std::span<const std::int64_t>(b_size)), 2), y = a - b;
    std::int64_t at = 0;
    for (std::int64_t i = 0; i < y_size[0]; ++i)
      for (std::int64_t j = 0; j < y_size[1]; ++j)
        for (std::int64_t k = 0; k < y_size[2]; ++k)
          for (std::int64_t l = 0; l < y_size[3]; ++l, ++at) {
            const auto element = [&](const Tensor& x, const std::int64_t* s) {
              return x.data()[((i % s[0] * s[1] + j % s[1]) * s[2] + k % s[2]) * s[3] + l % s[3]];
            };
            ASSERT_EQ(y.data()[at], element(a, a_size) - element(b, b_size)) << "pattern " << pattern;
          }
    test::expect_gradients([](const test::Tensors& x) { return x[0] * x[1]; }, {a, b}, {.elements = 3});
  }
}

}  // namespace
}  // namespace attend
