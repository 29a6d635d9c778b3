#include "attend/kernels/activation.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "attend/core/threads.h"

namespace attend::kernels {
namespace {

constexpr Activation kAll[] = {Activation::none, Activation::relu, Activation::gelu,   Activation::gelu_tanh,
                               Activation::silu, Activation::tanh, Activation::sigmoid};

double exact(Activation activation, double x) {
  switch (activation) {
    case Activation::none:
      return x;
    case Activation::relu:
      return x > 0 ? x : 0;
    case Activation::gelu:
      return x * 0.5 * std::erfc(-x / std::sqrt(2.));
    case Activation::gelu_tanh:
      return 0.5 * x * (1 + std::tanh(std::sqrt(2 / M_PI) * (x + 0.044715 * x * x * x)));
    case Activation::silu:
      return x / (1 + std::exp(-x));
    case Activation::tanh:
      return std::tanh(x);
    case Activation::sigmoid:
      return 1 / (1 + std::exp(-x));
  }
  return 0;
}

double exact_derivative(Activation activation, double x) {
  const double step = 1e-5;
  return (exact(activation, x + step) - exact(activation, x - step)) / (2 * step);
}

/// Values in [-3, 3] whose period is not a power of two.
std::vector<float> some(std::int64_t n, int seed) {
  std::vector<float> x(static_cast<std::size_t>(n));
  for (std::size_t i = 0; i < x.size(); ++i)
    x[i] = static_cast<float>((static_cast<int>(i) * 37 + seed * 11) % 601 - 300) / 100.f + 0.0013f;
  return x;
}

struct Size {
  std::int64_t rows, cols;
};
constexpr Size kSizes[] = {{1, 1}, {3, 7}, {129, 31}, {70, 513}, {0, 5}, {5, 0}};

TEST(BiasActivation, AddsTheBiasAndKeepsThePreActivation) {
  for (const Activation activation : kAll)
    for (const auto [rows, cols] : kSizes) {
      const std::vector<float> x = some(rows * cols, 1), bias = some(cols, 2);
      std::vector<float> pre(x.size()), y(x.size()), in_place = x;
      bias_activation(rows, cols, x.data(), bias.data(), activation, pre.data(), y.data());
      bias_activation(rows, cols, in_place.data(), bias.data(), activation, nullptr, in_place.data());
      EXPECT_EQ(in_place, y);
      for (std::size_t i = 0; i < x.size(); ++i) {
        const float expected_pre = x[i] + bias[i % static_cast<std::size_t>(cols)];
        EXPECT_EQ(pre[i], expected_pre);
        EXPECT_NEAR(y[i], exact(activation, expected_pre), 2e-6);
      }
    }
}

TEST(BiasActivation, BackwardMatchesTheDerivativeAndSumsColumns) {
  for (const Activation activation : kAll)
    for (const auto [rows, cols] : kSizes) {
      const std::vector<float> pre = some(rows * cols, 3), dy = some(rows * cols, 4);
      std::vector<float> y(pre.size()), dx(pre.size()), dbias(static_cast<std::size_t>(cols));
      bias_activation(rows, cols, pre.data(), nullptr, activation, nullptr, y.data());
      const float* saved = derivative_from_output(activation) ? y.data() : pre.data();
      bias_activation_backward(rows, cols, dy.data(), saved, activation, {.dx = dx.data(), .dbias = dbias.data()});
      std::vector<double> sums(dbias.size());
      for (std::size_t i = 0; i < dx.size(); ++i) {
        EXPECT_NEAR(dx[i], dy[i] * exact_derivative(activation, pre[i]), 1e-5);
        sums[i % sums.size()] += dx[i];
      }
      for (std::size_t c = 0; c < sums.size(); ++c) EXPECT_NEAR(dbias[c], sums[c], 1e-4);

      std::vector<float> twice = dx, bias_twice = dbias;
      bias_activation_backward(
          rows, cols, dy.data(), saved, activation,
          {.dx = twice.data(), .dbias = bias_twice.data(), .add_to_dx = true, .add_to_dbias = true});
      for (std::size_t i = 0; i < dx.size(); ++i) EXPECT_EQ(twice[i], 2 * dx[i]);
      for (std::size_t c = 0; c < sums.size(); ++c) EXPECT_NEAR(bias_twice[c], 2 * dbias[c], 1e-4);

      std::vector<float> alone(pre.size());
      bias_activation_backward(rows, cols, dy.data(), saved, activation, {.dx = alone.data()});
      EXPECT_EQ(alone, dx);
    }
}

TEST(BiasActivation, ColumnSumsDoNotDependOnTheNumberOfThreads) {
  const std::vector<float> pre = some(1000 * 61, 5), dy = some(1000 * 61, 6);
  std::vector<float> dbias[2];
  for (int threads = 1; threads <= 2; ++threads) {
    set_threads(threads);
    std::vector<float>& sums = dbias[threads - 1];
    sums.resize(61);
    bias_activation_backward(1000, 61, dy.data(), pre.data(), Activation::gelu, {.dbias = sums.data()});
  }
  EXPECT_EQ(dbias[0], dbias[1]);
}

}  // namespace
}  // namespace attend::kernels
