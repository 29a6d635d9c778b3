#include "attend/ops/convolution.h"

#include <gtest/gtest.h>

#include "tests/support/errors.h"
#include "tests/support/gradcheck.h"

namespace attend {
namespace {

using test::expect_gradients;
using test::normal;
using test::Tensors;

/// The definition, for one dimension.
Tensor naive(const Tensor& x, const Tensor& w, const Tensor& bias, const Convolution1dOptions& o) {
  const std::int64_t T = (x.dim(2) + 2 * o.padding - o.dilation * (w.dim(2) - 1) - 1) / o.stride + 1;
  const std::int64_t per_group = w.dim(0) / o.groups;
  Tensor y = Tensor::zeros({x.dim(0), w.dim(0), T});
  for (std::int64_t b = 0; b < x.dim(0); ++b)
    for (std::int64_t out = 0; out < w.dim(0); ++out)
      for (std::int64_t t = 0; t < T; ++t) {
        double sum = bias.defined() ? bias.data()[out] : 0;
        for (std::int64_t c = 0; c < w.dim(1); ++c)
          for (std::int64_t k = 0; k < w.dim(2); ++k) {
            const std::int64_t at = t * o.stride + k * o.dilation - o.padding;
            if (at < 0 || at >= x.dim(2)) continue;
            const std::int64_t channel = out / per_group * w.dim(1) + c;
            sum += static_cast<double>(x.data()[(b * x.dim(1) + channel) * x.dim(2) + at]) *
                   w.data()[(out * w.dim(1) + c) * w.dim(2) + k];
          }
        y.data()[(b * w.dim(0) + out) * T + t] = static_cast<float>(sum);
      }
  return y;
}

TEST(Convolution, OneDimensionEqualsTheDefinition) {
  for (const Convolution1dOptions& o : {Convolution1dOptions{},
                                        {.stride = 2, .padding = 1},
                                        {.padding = 4, .dilation = 2},
                                        {.stride = 3, .padding = 2, .dilation = 1, .groups = 2}}) {
    const Tensor x = normal({2, 4, 13}), w = normal({6, 4 / o.groups, 3}, 2), bias = normal({6}, 3);
    const Tensor y = conv1d(x, w, bias, o), expected = naive(x, w, bias, o);
    ASSERT_EQ(y.shape(), expected.shape());
    for (std::int64_t i = 0; i < y.numel(); ++i) EXPECT_NEAR(y.data()[i], expected.data()[i], 1e-4);
  }
}

TEST(Convolution, GradientsMatchFiniteDifferences) {
  expect_gradients([](const Tensors& x) { return conv1d(x[0], x[1], x[2], {.stride = 2, .padding = 1, .groups = 2}); },
                   {normal({2, 4, 9}), normal({6, 2, 3}, 2, 0.4f), normal({6}, 3)});
  expect_gradients([](const Tensors& x) { return conv1d(x[0], x[1]); }, {normal({1, 1, 5}), normal({1, 1, 5}, 2)});
  expect_gradients(
      [](const Tensors& x) {
        return conv2d(x[0], x[1], x[2], {.stride = {2, 1}, .padding = {1, 0}, .dilation = {1, 2}});
      },
      {normal({2, 3, 5, 7}), normal({5, 3, 3, 2}, 2, 0.4f), normal({5}, 3)});
}

TEST(Convolution, AnEmptyBatchGivesAnEmptyResult) {
  EXPECT_EQ(conv2d(Tensor::zeros({0, 3, 5, 5}), Tensor::zeros({4, 3, 3, 3})).shape(), Shape({0, 4, 3, 3}));
}

TEST(Convolution, WrongShapesAreReported) {
  EXPECT_ERROR(conv1d(Tensor::zeros({2, 3, 5}), Tensor::zeros({4, 2, 3})),
               "[conv1d] the channels do not fit: got x [2, 3, 5]");
  EXPECT_ERROR(conv1d(Tensor::zeros({2, 3, 5}), Tensor::zeros({4, 3, 9})), "larger than the padded input");
  EXPECT_ERROR(conv2d(Tensor::zeros({2, 3, 5}), Tensor::zeros({4, 3, 9})), "[conv2d] wrong shapes");
  EXPECT_ERROR(conv1d(Tensor::zeros({2, 3, 5}), Tensor::zeros({4, 3, 1}), {}, {.stride = 0}), "must be at least 1");
  EXPECT_ERROR(conv1d(Tensor::zeros({2, 3, 0}), Tensor::zeros({4, 3, 1}), {}, {.padding = 1}), "a size is zero");
  EXPECT_ERROR(conv1d(Tensor::zeros({2, 3, 5}), Tensor::zeros({4, 3, 3}), {}, {.dilation = std::int64_t{1} << 62}),
               "at most");
}

}  // namespace
}  // namespace attend
