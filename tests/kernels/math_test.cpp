#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "tests/kernels/math_test.cpp"
#include "attend/kernels/foreach_target.h"  // IWYU pragma: keep

#include <hwy/highway.h>

#include <algorithm>
#include <cstdint>

#include "attend/kernels/math-inl.h"
#include "attend/kernels/philox-inl.h"

HWY_BEFORE_NAMESPACE();
namespace attend::kernels::HWY_NAMESPACE {

template <typename F>
void Map(std::size_t n, const float* x, float* y, F f) {
  const hn::ScalableTag<float> d;
  for (std::size_t i = 0; i < n; i += hn::Lanes(d)) hn::StoreU(f(d, hn::LoadU(d, x + i)), d, y + i);
}

/// Applies function number `function` to n values; n is a multiple of 16.
void Evaluate(int function, std::size_t n, const float* x, float* y) {
  switch (function) {
    case 0:
      return Map(n, x, y, [](auto d, auto v) { return Exp(d, v); });
    case 1:
      return Map(n, x, y, [](auto d, auto v) { return Log(d, v); });
    case 2:
      return Map(n, x, y, [](auto d, auto v) { return Tanh(d, v); });
    case 3:
      return Map(n, x, y, [](auto d, auto v) { return Sigmoid(d, v); });
    case 4:
      return Map(n, x, y, [](auto d, auto v) { return Erf(d, v); });
    case 5:
      return Map(n, x, y, [](auto d, auto v) { return Gelu(d, v); });
    case 6:
      return Map(n, x, y, [](auto d, auto v) { return GeluTanh(d, v); });
    case 7:
      return Map(n, x, y, [](auto d, auto v) { return Silu(d, v); });
    case 8:
      return Map(n, x, y, [](auto d, auto v) { return GeluWithDerivative(d, v).derivative; });
    case 9:
      return Map(n, x, y, [](auto d, auto v) { return GeluTanhWithDerivative(d, v).derivative; });
    case 10:
      return Map(n, x, y, [](auto d, auto v) { return SiluWithDerivative(d, v).derivative; });
  }
}

void EightPhilox(PhiloxKey key, std::uint64_t first, std::uint32_t* words) {
#if HWY_TARGET == HWY_SCALAR
  for (std::size_t c = 0; c < 8; ++c) {
    const auto four = philox(key, first + c);
    std::copy(four.begin(), four.end(), words + 4 * c);
  }
#else
  const PhiloxLanes d;
  std::uint64_t lanes[4][8];
  for (std::size_t c = 0; c < 8; c += hn::Lanes(d)) {
    const PhiloxWords w = Philox(key, first + c);
    hn::StoreU(w.word0, d, lanes[0] + c), hn::StoreU(w.word1, d, lanes[1] + c);
    hn::StoreU(w.word2, d, lanes[2] + c), hn::StoreU(w.word3, d, lanes[3] + c);
  }
  for (std::size_t c = 0; c < 8; ++c)
    for (std::size_t w = 0; w < 4; ++w) words[4 * c + w] = static_cast<std::uint32_t>(lanes[w][c]);
#endif
}

void Multipliers(PhiloxKey key, DropoutRate rate, std::uint64_t block, float* out) {
  DropoutMultipliers(key, rate, block, out);
}

}  // namespace attend::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <limits>
#include <vector>

namespace attend::kernels {
namespace {

HWY_EXPORT(Evaluate);
HWY_EXPORT(EightPhilox);
HWY_EXPORT(Multipliers);

/// Runs the check with each instruction set of this machine.
void on_every_target(const std::function<void()>& check) {
  for (const std::int64_t target : hwy::SupportedAndGeneratedTargets()) {
    SCOPED_TRACE(hwy::TargetName(target));
    hwy::SetSupportedTargetsForTest(target);
    check();
  }
  hwy::SetSupportedTargetsForTest(0);
}

std::vector<float> evaluate(int function, std::vector<float> x) {
  const std::size_t n = x.size();
  x.resize((n + 15) / 16 * 16);
  std::vector<float> y(x.size());
  HWY_DYNAMIC_DISPATCH(Evaluate)(function, x.size(), x.data(), y.data());
  y.resize(n);
  return y;
}

constexpr float kInfinity = std::numeric_limits<float>::infinity();

struct Function {
  const char* name;
  int number;
  double low, high;
  double (*exact)(double);
  double relative, absolute;
};
double phi(double x) { return 0.5 * std::erfc(-x / std::sqrt(2.)); }
double sigmoid(double x) { return 1 / (1 + std::exp(-x)); }
double gelu_argument(double x) { return 2 * std::sqrt(2 / M_PI) * (x + 0.044715 * x * x * x); }
double gelu_slope(double x) { return 2 * std::sqrt(2 / M_PI) * (1 + 3 * 0.044715 * x * x); }

TEST(VectorMath, StaysWithinItsErrorBounds) {
  const Function functions[] = {
      {"exp", 0, -86, 88.7, [](double x) { return std::exp(x); }, 2.4e-7, 0},
      {"log", 1, 1e-30, 10, [](double x) { return std::log(x); }, 3e-7, 0},
      {"log", 1, 1, 1e30, [](double x) { return std::log(x); }, 3e-7, 0},
      {"tanh", 2, -12, 12, [](double x) { return std::tanh(x); }, 6e-7, 0},
      {"sigmoid", 3, -86, 100, sigmoid, 5e-7, 0},
      {"erf", 4, -6, 6, [](double x) { return std::erf(x); }, 6e-7, 0},
      {"gelu", 5, -1, 20, [](double x) { return x * phi(x); }, 1e-6, 0},
      {"gelu", 5, -20, 1, [](double x) { return x * phi(x); }, 0, 1.5e-6},
      {"gelu_tanh", 6, -5, 20, [](double x) { return x * sigmoid(gelu_argument(x)); }, 4e-6, 0},
      {"gelu_tanh", 6, -20, 1, [](double x) { return x * sigmoid(gelu_argument(x)); }, 0, 5e-7},
      {"silu", 7, -80, 80, [](double x) { return x * sigmoid(x); }, 1e-6, 0},
      {"gelu'", 8, -20, 20, [](double x) { return phi(x) + x * std::exp(-x * x / 2) / std::sqrt(2 * M_PI); }, 0, 5e-7},
      {"gelu_tanh'", 9, -20, 20,
       [](double x) {
         const double s = sigmoid(gelu_argument(x));
         return s + x * s * (1 - s) * gelu_slope(x);
       },
       0, 1e-6},
      {"silu'", 10, -50, 50, [](double x) { return sigmoid(x) * (1 + x * (1 - sigmoid(x))); }, 0, 5e-7},
  };
  on_every_target([&] {
    for (const Function& f : functions) {
      std::vector<float> x;
      constexpr int kSteps = 100000;
      for (int i = 0; i <= kSteps; ++i) x.push_back(static_cast<float>(f.low + (f.high - f.low) * i / kSteps));
      const std::vector<float> y = evaluate(f.number, x);
      double worst = 0;
      float where = 0;
      for (std::size_t i = 0; i < x.size(); ++i) {
        const double exact = f.exact(x[i]);
        const double error = std::abs(y[i] - exact) / (f.relative * std::abs(exact) + f.absolute + 1e-40);
        if (!(error <= worst)) worst = error, where = x[i];
      }
      EXPECT_LE(worst, 1) << f.name << " at " << where;
    }
  });
}

TEST(VectorMath, HandlesTheEndsOfTheRange) {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  on_every_target([&] {
    const std::vector<float> e = evaluate(0, {-kInfinity, -1000.f, 0.f, 1.f, 89.f, kInfinity, nan});
    EXPECT_EQ(e[0], 0.f);
    EXPECT_EQ(e[1], 0.f);
    EXPECT_EQ(e[2], 1.f);
    EXPECT_NEAR(e[3], std::exp(1.f), 3e-7);
    EXPECT_EQ(e[4], kInfinity);
    EXPECT_EQ(e[5], kInfinity);
    const std::vector<float> l = evaluate(1, {0.f, 1.f, kInfinity, -1.f});
    EXPECT_EQ(l[0], -kInfinity);
    EXPECT_EQ(l[1], 0.f);
    EXPECT_EQ(l[2], kInfinity);
    EXPECT_TRUE(std::isnan(l[3]));
    for (int function = 0; function <= 10; ++function)
      EXPECT_TRUE(std::isnan(evaluate(function, {nan})[0])) << "function " << function;
    const std::vector<float> ends = {-kInfinity, kInfinity, -1e30f, 1e30f};
    for (std::size_t i = 0; i < 4; ++i) EXPECT_NEAR(evaluate(2, ends)[i], i % 2 ? 1 : -1, 3e-7);
    EXPECT_EQ(evaluate(3, ends), (std::vector<float>{0, 1, 0, 1}));
    for (std::size_t i = 0; i < 4; ++i) EXPECT_NEAR(evaluate(4, ends)[i], i % 2 ? 1 : -1, 3e-7);
  });
}

TEST(VectorPhilox, EqualsTheScalarGenerator) {
  on_every_target([] {
    for (const std::uint64_t first : {std::uint64_t{0}, std::uint64_t{5}, std::uint64_t{0xfffffffc}})
      for (const PhiloxKey key : {PhiloxKey{0, 0}, PhiloxKey{0x123456789abcdefu, 0xfedcba9876543u}}) {
        std::uint32_t words[32];
        HWY_DYNAMIC_DISPATCH(EightPhilox)(key, first, words);
        for (std::size_t c = 0; c < 8; ++c) {
          const auto expected = philox(key, first + c);
          for (std::size_t w = 0; w < 4; ++w) EXPECT_EQ(words[4 * c + w], expected[w]);
        }
      }
  });
}

TEST(VectorPhilox, DropsTheSameElementsOnEveryTarget) {
  const PhiloxKey key{7, 11};
  const DropoutRate rate(0.3f);
  on_every_target([&] {
    for (std::uint64_t block = 0; block < 50; ++block) {
      float multipliers[kDropoutBlockSize];
      HWY_DYNAMIC_DISPATCH(Multipliers)(key, rate, block, multipliers);
      for (std::size_t e = 0; e < kDropoutBlockSize; ++e) {
        const std::size_t part = e / 16, k = e % 16;
        const std::uint32_t word = philox(key, 8 * block + k / 2)[part / 2 * 2 + k % 2];
        const std::uint32_t bits = part % 2 ? word >> 16 : word & 0xffff;
        EXPECT_EQ(multipliers[e], bits < rate.threshold ? 0.f : rate.scale);
      }
    }
  });
}

TEST(DropoutRate, ScaleMatchesTheThreshold) {
  EXPECT_EQ(DropoutRate(0.5f).threshold, 32768u);
  EXPECT_EQ(DropoutRate(0.5f).scale, 2.f);
  EXPECT_EQ(DropoutRate(1.f).scale, 0.f);
  EXPECT_EQ(DropoutRate(0.f).scale, 1.f);
}

}  // namespace
}  // namespace attend::kernels
#endif
