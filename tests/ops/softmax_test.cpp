#include "attend/ops/softmax.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "attend/core/threads.h"
#include "tests/support/errors.h"
#include "tests/support/golden.h"
#include "tests/support/gradcheck.h"

namespace attend {
namespace {

using test::Tensors;

TEST(Softmax, RowsSumToOneAndLogSoftmaxIsTheirLogarithm) {
  for (const Shape& shape : {Shape{1}, Shape{5, 1}, Shape{3, 7}, Shape{2, 3, 129}, Shape{0, 4}, Shape{4, 0}}) {
    const Tensor x = test::normal(shape, 1, 5.f), y = softmax(x), log_y = log_softmax(x);
    const std::int64_t cols = shape[-1];
    for (std::int64_t row = 0; row < x.rows() && cols > 0; ++row) {
      double sum = 0;
      for (std::int64_t i = row * cols; i < (row + 1) * cols; ++i) {
        sum += y.data()[i];
        EXPECT_NEAR(std::exp(log_y.data()[i]), y.data()[i], 1e-6);
      }
      EXPECT_NEAR(sum, 1, 1e-6);
    }
  }
}

TEST(Softmax, LargeAndInfiniteValuesWork) {
  const float infinity = std::numeric_limits<float>::infinity();
  const Tensor y = softmax(Tensor::from({1e30f, 0, -1e30f, -infinity, 1, -infinity}, {2, 3}));
  EXPECT_EQ(y.to_vector()[0], 1.f);
  EXPECT_EQ(y.to_vector()[1], 0.f);
  EXPECT_EQ(y.to_vector()[4], 1.f);
  EXPECT_EQ(softmax(Tensor::full({3}, -infinity)).to_vector(), (std::vector<float>{0, 0, 0}));
  EXPECT_TRUE(std::isnan(softmax(Tensor::from({NAN, 1}, {2})).to_vector()[1]));
}

TEST(Softmax, GradientsMatchFiniteDifferences) {
  for (const Shape& shape : {Shape{1, 1}, Shape{3, 7}, Shape{2, 67}, Shape{0, 3}}) {
    const Tensor x = test::normal(shape);
    test::expect_gradients([](const Tensors& in) { return softmax(in[0]); }, {x});
    test::expect_gradients([](const Tensors& in) { return log_softmax(in[0]); }, {x});
    test::expect_gradients([](const Tensors& in) { return Tensors{softmax(in[0]), log_softmax(in[0])}; }, {x});
  }
}

TEST(MaskedSoftmax, UsesOnlyThePrefix) {
  const Tensor x = test::normal({2, 2, 5});
  const Tensor by_first = masked_softmax(x, Tensor::ids({2, 0}, {2}));
  const Tensor by_row = masked_softmax(x, Tensor::ids({2, 2, 0, 0}, {2, 2}));
  EXPECT_EQ(by_first.to_vector(), by_row.to_vector());
  const Tensor prefix = softmax(Tensor::from({x.data()[5], x.data()[6]}, {2}));
  EXPECT_NEAR(by_first.data()[5], prefix.data()[0], 1e-7);
  EXPECT_EQ(by_first.data()[7], 0.f);
  for (int i = 10; i < 20; ++i) EXPECT_EQ(by_first.data()[i], 0.f);
}

TEST(MaskedSoftmax, GradientsAreZeroBeyondTheLength) {
  const Tensor x = test::normal({3, 2, 9});
  const Tensor lengths = Tensor::ids({4, 0, 9}, {3});
  const test::Function f = [&](const Tensors& in) { return Tensors{masked_softmax(in[0], lengths)}; };
  test::expect_gradients(f, {x});
  const Tensor dx = test::gradients_of(f, {x}).inputs[0];
  for (int i = 18; i < 36; ++i) EXPECT_EQ(dx.data()[i], 0.f);
  EXPECT_EQ(dx.data()[4], 0.f);
}

TEST(Softmax, OneThreadEqualsTwo) {
  const Tensor x = test::normal({300, 67});
  set_threads(1);
  const auto one = softmax(x).to_vector();
  set_threads(2);
  EXPECT_EQ(softmax(x).to_vector(), one);
}

TEST(Softmax, WrongInputIsReported) {
  EXPECT_ERROR(softmax(Tensor::scalar(1)), "[softmax]");
  const Tensor x = test::normal({2, 3, 4});
  EXPECT_ERROR(masked_softmax(x, Tensor::ids({1, 2, 3}, {3})), "got x [2, 3, 4] and lengths [3]");
  EXPECT_ERROR(masked_softmax(x, Tensor::zeros({2})), "int32");
  EXPECT_ERROR(masked_softmax(x, Tensor::ids({1, 5}, {2})), "length 1 is out of range: got 5, expected 0 to 4");
}

}  // namespace
}  // namespace attend
