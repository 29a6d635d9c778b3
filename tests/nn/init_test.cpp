#include "attend/nn/init.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "tests/support/errors.h"

namespace attend {
namespace {

struct Moments {
  double mean = 0, deviation = 0;
  float low = 0, high = 0;
};
Moments moments(const Tensor& x) {
  Moments m;
  for (const float v : x.span()) m.mean += v;
  m.mean /= static_cast<double>(x.numel());
  for (const float v : x.span()) m.deviation += (v - m.mean) * (v - m.mean);
  m.deviation = std::sqrt(m.deviation / static_cast<double>(x.numel()));
  const auto [low, high] = std::ranges::minmax_element(x.span());
  m.low = *low, m.high = *high;
  return m;
}

TEST(Init, EveryInitialiserHasTheExpectedDeviation) {
  Tensor w = Tensor::empty({300, 200});
  init::xavier_uniform(w);
  EXPECT_NEAR(moments(w).deviation, std::sqrt(2. / 500), 1e-3);
  EXPECT_LE(moments(w).high, std::sqrt(6. / 500));
  init::xavier_uniform(w, 2.f);
  EXPECT_NEAR(moments(w).deviation, 2 * std::sqrt(2. / 500), 2e-3);
  init::uniform_fan_in(w, 200);
  EXPECT_NEAR(moments(w).deviation, std::sqrt(1. / 3 / 200), 1e-3);
  init::normal(w, 0.02f);
  EXPECT_NEAR(moments(w).deviation, 0.02, 2e-4);
  EXPECT_NEAR(moments(w).mean, 0, 3e-4);
}

TEST(Init, FansOfConvolutionsIncludeTheKernelSize) {
  Tensor w = Tensor::empty({64, 32, 3, 3});
  init::xavier_uniform(w);
  EXPECT_NEAR(moments(w).deviation, std::sqrt(2. / (96 * 9)), 1e-3);
  Tensor b = Tensor::empty({4});
  EXPECT_ERROR(init::xavier_uniform(b), "got [4]");
}

}  // namespace
}  // namespace attend
