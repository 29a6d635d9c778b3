#include "attend/ops/linear.h"

#include <gtest/gtest.h>

#include "attend/core/convert.h"
#include "attend/ops/concat.h"
#include "attend/ops/tape.h"
#include "tests/support/errors.h"
#include "tests/support/golden.h"
#include "tests/support/gradcheck.h"

namespace attend {
namespace {

using test::expect_gradients;
using test::normal;
using test::Tensors;

TEST(Linear, GradientsMatchForEveryActivationWithAndWithoutBias) {
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

TEST(Linear, HalfPrecisionWeightsGiveTheProductOfTheConvertedWeights) {
  for (const DType dtype : {DType::bf16, DType::f16})
    for (const std::int64_t rows : {1, 2, 7, 64, 65, 300})
      for (const auto& [in, out] : {std::pair{67, 35}, {96, 1100}, {2100, 530}}) {
        SCOPED_TRACE(std::to_string(rows) + " rows, " + std::to_string(in) + " to " + std::to_string(out));
        const Tensor x = normal({rows, in}, 1, 0.3f), bias = normal({out}, 2),
                     half = convert(normal({out, in}, 3), dtype);
        const Tensor y = linear(x, half, bias, Activation::silu),
                     expected = linear(x, convert(half, DType::f32), bias, Activation::silu);
        EXPECT_TRUE(test::close(y, expected, {.relative = 1e-5f, .absolute = 1e-4f}));
        const Tensor other = convert(normal({3, in}, 4), dtype);
        const std::vector<Tensor> both{half, other}, floats{convert(half, DType::f32), convert(other, DType::f32)};
        EXPECT_TRUE(
            test::close(linear_together(x, both), linear_together(x, floats), {.relative = 1e-5f, .absolute = 1e-4f}));
      }
}

TEST(Linear, HalfPrecisionWeightsCannotBeTrained) {
  Tensor x = normal({2, 3});
  require_grad(x);
  EXPECT_ERROR(linear(x, convert(normal({4, 3}), DType::bf16)), "bfloat16");
}

void expect_near(const Tensor& got, const Tensor& expected) {
  ASSERT_EQ(got.shape(), expected.shape());
  for (std::int64_t i = 0; i < got.numel(); ++i) EXPECT_NEAR(got.data()[i], expected.data()[i], 1e-5f) << i;
}

class LinearTogether : public testing::TestWithParam<std::int64_t> {
};  // number of rows: few and many rows use different kernels
INSTANTIATE_TEST_SUITE_P(Rows, LinearTogether, testing::Values(15, 201));

TEST_P(LinearTogether, EqualsTheSeparateLayersForAnyMemoryLayout) {
  const Tensor x = normal({GetParam(), 7}, 1);
  std::vector<Tensor> weights = {normal({4, 7}, 2), normal({1, 7}, 3), normal({6, 7}, 4)},
                      biases = {normal({4}, 5), normal({1}, 6), normal({6}, 7)};
  std::vector<Tensor> expected;
  for (std::size_t i = 0; i < weights.size(); ++i) expected.push_back(linear(x, weights[i], biases[i]));
  const Tensor apart = linear_together(x, weights, biases);
  expect_near(apart, concat(expected, -1));
  place_together(std::vector{&weights[0], &weights[1], &weights[2]});
  expect_near(linear_together(x, weights, biases), apart);  // the biases are not contiguous yet
  place_together(std::vector{&biases[0], &biases[1], &biases[2]});
  EXPECT_EQ(weights[1].data(), weights[0].data() + 28);
  expect_near(linear_together(x, weights, biases), apart);
}

TEST_P(LinearTogether, GroupsHaveTheBitsOfEachGroupAlone) {
  const Tensor x = normal({GetParam(), 7}, 1);
  const std::vector<LinearGroup> groups = {{{normal({5, 7}, 2)}, {normal({5}, 3)}},
                                           {{normal({4, 7}, 4), normal({6, 7}, 5)}, {}},
                                           {{convert(normal({3, 7}, 6), DType::bf16)}, {}}};
  const std::vector<Tensor> results = linear_groups(x, groups);
  ASSERT_EQ(results.size(), groups.size());
  for (std::size_t i = 0; i < groups.size(); ++i) {
    const Tensor alone = linear_together(x, groups[i].weights, groups[i].biases);
    EXPECT_EQ(results[i].shape(), alone.shape());
    EXPECT_EQ(results[i].to_vector(), alone.to_vector());
  }
}

TEST(Linear, GradientsOfGroupsMatchFiniteDifferences) {
  const auto run = [](const Tensors& x) {
    const std::vector<LinearGroup> groups = {{{x[1]}, {}}, {{x[2], x[3]}, {x[4], x[5]}}};
    return concat(linear_groups(x[0], groups), 1);
  };
  expect_gradients(run, {normal({3, 7}, 1), normal({4, 7}, 2), normal({6, 7}, 3), normal({2, 7}, 4), normal({6}, 5),
                         normal({2}, 6)});
}

TEST(Linear, GradientsOfLinearTogetherMatchFiniteDifferences) {
  const auto run = [](const Tensors& x) { return linear_together(x[0], {&x[1], 2}, {&x[3], 2}); };
  Tensors inputs = {normal({3, 5, 7}, 1), normal({4, 7}, 2), normal({6, 7}, 3), normal({4}, 4), normal({6}, 5)};
  expect_gradients(run, inputs);
  place_together(std::vector{&inputs[1], &inputs[2]});
  place_together(std::vector{&inputs[3], &inputs[4]});
  expect_gradients(run, inputs);
  const auto without_bias = [](const Tensors& x) { return linear_together(x[0], {&x[1], 2}); };
  expect_gradients(without_bias, {inputs[0], inputs[1], inputs[2]});
}

TEST(Linear, LinearTogetherNeedsABiasForAllWeightsOrForNone) {
  const Tensor x = Tensor::zeros({2, 3});
  const std::vector<Tensor> weights(2, Tensor::zeros({4, 3})), bias(1, Tensor::zeros({4}));
  EXPECT_ERROR(linear_together(x, weights, bias), "got 2 weights and 1 biases");
}

TEST(Linear, WrongShapesAreReported) {
  EXPECT_ERROR(
      linear(Tensor::zeros({32, 25, 512}), Tensor::zeros({2048, 256})),
      "[linear] the input's last dimension does not fit the weight: got x [32, 25, 512] and weight [2048, 256], "
      "expected x [..., 256]");
  EXPECT_ERROR(linear(Tensor::zeros({2, 3}), Tensor::zeros({4, 3}), Tensor::zeros({3})), "expected bias [4]");
  EXPECT_ERROR(linear(Tensor::zeros({2, 3}), Tensor::zeros({3})), "expected [N, K]");
}

}  // namespace
}  // namespace attend
