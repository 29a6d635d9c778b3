#include "attend/ops/norm.h"

#include <gtest/gtest.h>

#include <cmath>

#include "attend/core/threads.h"
#include "tests/support/errors.h"
#include "tests/support/golden.h"
#include "tests/support/gradcheck.h"

namespace attend {
namespace {

using test::Tensors;

TEST(LayerNorm, RowsHaveTheGivenMeanAndDeviation) {
  for (const Shape& shape : {Shape{5}, Shape{3, 67}, Shape{2, 3, 768}}) {
    Tensor x = test::normal(shape, 3, 2.f);
    for (float& value : x.span()) value += 1000.f;  // where mean(x²) - mean(x)² would lose precision
    const std::int64_t cols = shape[-1];
    const Tensor y = layer_norm(x, Tensor::full({cols}, 1.f), Tensor::zeros({cols}), 0.f);
    for (std::int64_t row = 0; row < x.rows(); ++row) {
      double sum = 0, squares = 0;
      for (std::int64_t i = row * cols; i < (row + 1) * cols; ++i)
        sum += y.data()[i], squares += static_cast<double>(y.data()[i]) * static_cast<double>(y.data()[i]);
      EXPECT_NEAR(sum / static_cast<double>(cols), 0, 2e-4);
      EXPECT_NEAR(squares / static_cast<double>(cols), 1, 1e-4);
    }
  }
}

TEST(LayerNorm, GradientsMatchFiniteDifferences) {
  for (const Shape& shape : {Shape{1, 3}, Shape{2, 3, 7}, Shape{19, 33}, Shape{0, 5}, Shape{3, 0}}) {
    const std::int64_t cols = shape[-1];
    const Tensors inputs = {test::normal(shape, 1), test::normal({cols}, 2), test::normal({cols}, 3)};
    test::expect_gradients([](const Tensors& in) { return layer_norm(in[0], in[1], in[2]); }, inputs,
                           {.step = 1e-2f, .tolerance = 5e-3f});
  }
}

TEST(LayerNorm, OneTensorCanBeInputGainAndBias) {
  const Tensors x = {test::normal({7}, 1)};
  const test::GradCheckOptions options{.step = 1e-2f, .tolerance = 5e-3f};
  test::expect_gradients([](const Tensors& in) { return layer_norm(in[0], in[0], in[0]); }, x, options);
  test::expect_gradients([](const Tensors& in) { return add_layer_norm(in[0], in[0], in[0], in[0]).normed; }, x,
                         options);
}

TEST(AddLayerNorm, EqualsTheSumFollowedByTheNorm) {
  const Tensor x = test::normal({4, 67}, 1), residual = test::normal({4, 67}, 2), gain = test::normal({67}, 3),
               bias = test::normal({67}, 4);
  const auto [sum, normed] = add_layer_norm(x, residual, gain, bias);
  for (int i = 0; i < 4 * 67; ++i) EXPECT_EQ(sum.data()[i], x.data()[i] + residual.data()[i]);
  EXPECT_TRUE(test::close(normed, layer_norm(sum, gain, bias)));
}

TEST(AddLayerNorm, GradientsMatchFiniteDifferencesWhicheverResultIsUsed) {
  const Tensors inputs = {test::normal({5, 11}, 1), test::normal({5, 11}, 2), test::normal({11}, 3),
                          test::normal({11}, 4)};
  const auto run = [](const Tensors& in) { return add_layer_norm(in[0], in[1], in[2], in[3]); };
  const test::GradCheckOptions options{.step = 1e-2f, .tolerance = 5e-3f};
  test::expect_gradients([&](const Tensors& in) { return Tensors{run(in).sum, run(in).normed}; }, inputs, options);
  test::expect_gradients([&](const Tensors& in) { return run(in).normed; }, inputs, options);
  test::expect_gradients([&](const Tensors& in) { return run(in).sum; }, inputs, options);
}

TEST(LayerNorm, OneThreadEqualsTwo) {
  const Tensors inputs = {test::normal({300, 67}, 1), test::normal({67}, 2), test::normal({67}, 3)};
  const test::Function f = [](const Tensors& in) { return Tensors{layer_norm(in[0], in[1], in[2])}; };
  set_threads(1);
  const test::Gradients one = test::gradients_of(f, inputs);
  set_threads(2);
  const test::Gradients two = test::gradients_of(f, inputs);
  EXPECT_EQ(one.results[0].to_vector(), two.results[0].to_vector());
  for (std::size_t i = 0; i < 3; ++i) EXPECT_EQ(one.inputs[i].to_vector(), two.inputs[i].to_vector());
}

TEST(LayerNorm, NoBiasEqualsABiasOfZero) {
  const Tensor x = test::normal({4, 67}, 1), residual = test::normal({4, 67}, 2), gain = test::normal({67}, 3),
               zero = Tensor::zeros({67});
  EXPECT_EQ(layer_norm(x, gain).to_vector(), layer_norm(x, gain, zero).to_vector());
  EXPECT_EQ(add_layer_norm(x, residual, gain).normed.to_vector(),
            add_layer_norm(x, residual, gain, zero).normed.to_vector());
}

TEST(RmsNorm, DividesRowsByTheirRootMeanSquare) {
  for (const Shape& shape : {Shape{5}, Shape{3, 67}, Shape{2, 3, 768}}) {
    const Tensor x = test::normal(shape, 3, 2.f), gain = test::normal({shape[-1]}, 4);
    const std::int64_t cols = shape[-1];
    const Tensor y = rms_norm(x, gain, 0.25f);
    for (std::int64_t row = 0; row < x.rows(); ++row) {
      double squares = 0;
      for (std::int64_t i = row * cols; i < (row + 1) * cols; ++i)
        squares += static_cast<double>(x.data()[i]) * static_cast<double>(x.data()[i]);
      const double root = std::sqrt(squares / static_cast<double>(cols) + 0.25);
      for (std::int64_t i = 0; i < cols; ++i)
        EXPECT_NEAR(y.data()[row * cols + i], x.data()[row * cols + i] / root * gain.data()[i], 1e-5);
    }
  }
}

TEST(RmsNorm, GradientsMatchFiniteDifferences) {
  for (const Shape& shape : {Shape{1, 3}, Shape{2, 3, 7}, Shape{19, 33}, Shape{0, 5}, Shape{3, 0}}) {
    const Tensors inputs = {test::normal(shape, 1), test::normal({shape[-1]}, 2)};
    test::expect_gradients([](const Tensors& in) { return rms_norm(in[0], in[1]); }, inputs,
                           {.step = 1e-2f, .tolerance = 5e-3f});
  }
}

TEST(RmsNorm, ARowOfZerosStaysZero) {
  const Tensors inputs = {Tensor::zeros({2, 5}), test::normal({5}, 1)};
  const test::Gradients gradients =
      test::gradients_of([](const Tensors& in) { return Tensors{rms_norm(in[0], in[1])}; }, inputs);
  EXPECT_EQ(gradients.results[0].to_vector(), std::vector<float>(10));
  for (const float dx : gradients.inputs[0].span()) EXPECT_TRUE(std::isfinite(dx));
}

TEST(AddRmsNorm, EqualsTheSumFollowedByTheNorm) {
  const Tensor x = test::normal({4, 67}, 1), residual = test::normal({4, 67}, 2), gain = test::normal({67}, 3);
  const auto [sum, normed] = add_rms_norm(x, residual, gain);
  for (int i = 0; i < 4 * 67; ++i) EXPECT_EQ(sum.data()[i], x.data()[i] + residual.data()[i]);
  EXPECT_EQ(normed.to_vector(), rms_norm(sum, gain).to_vector());
}

TEST(AddRmsNorm, GradientsMatchFiniteDifferencesWhicheverResultIsUsed) {
  const Tensors inputs = {test::normal({5, 11}, 1), test::normal({5, 11}, 2), test::normal({11}, 3)};
  const auto run = [](const Tensors& in) { return add_rms_norm(in[0], in[1], in[2]); };
  const test::GradCheckOptions options{.step = 1e-2f, .tolerance = 5e-3f};
  test::expect_gradients([&](const Tensors& in) { return Tensors{run(in).sum, run(in).normed}; }, inputs, options);
  test::expect_gradients([&](const Tensors& in) { return run(in).normed; }, inputs, options);
  test::expect_gradients([&](const Tensors& in) { return run(in).sum; }, inputs, options);
}

TEST(Norms, WrongShapesAreReported) {
  const Tensor x = test::normal({2, 3}), row = test::normal({3}), wrong = test::normal({4});
  EXPECT_ERROR(layer_norm(x, wrong, row),
               "[layer_norm] the gain must have the size of the last dimension: got x [2, 3] and gain [4], "
               "expected [3]");
  EXPECT_ERROR(layer_norm(x, row, wrong),
               "[layer_norm] the bias must have the size of the last dimension: got x [2, 3] and bias [4], "
               "expected [3]");
  EXPECT_ERROR(layer_norm(x, {}, row), "[layer_norm] gain is an undefined tensor");
  EXPECT_ERROR(add_layer_norm(x, row, row, row), "[add_layer_norm] x and the residual must have the same shape");
  EXPECT_ERROR(rms_norm(x, wrong), "[rms_norm] the gain must have the size of the last dimension");
  EXPECT_ERROR(rms_norm(Tensor::scalar(1.f), row), "[rms_norm] wrong shape: got a scalar");
  EXPECT_ERROR(add_rms_norm(x, wrong, row), "[add_rms_norm] x and the residual must have the same shape");
}

}  // namespace
}  // namespace attend
