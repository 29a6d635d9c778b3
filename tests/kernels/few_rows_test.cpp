#include "attend/kernels/few_rows.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "attend/core/random.h"
#include "attend/core/tensor.h"
#include "attend/core/threads.h"
#include "attend/kernels/matmul.h"

namespace attend::kernels {
namespace {

Tensor random(std::int64_t count) {
  Tensor x = Tensor::empty({count});
  fill_normal(x, 0.f, 1.f);
  return x;
}

TEST(FewRows, EqualTheDefinitionAtOddSizesAndPlaces) {
  for (const std::int64_t k : {0, 1, 7, 8, 33, 128, 771, 1600})
    for (const std::int64_t n : {1, 3, 4, 9, 70})
      for (const std::int64_t m : {1, 2, 4, 7, 13})
        for (const bool accumulate : {false, true}) {
          const FewRows s{m, n, k, k + 3, k + 1, n + 2, accumulate};
          // One element further than vectors like it, as a mapped file may have it.
          const Tensor x = random(1 + m * s.x_stride), w = random(1 + n * s.w_stride), bias = random(n + 1);
          const Tensor before = random(1 + m * s.y_stride), y = before.copy();
          few_rows(s, x.data() + 1, w.data() + 1, y.data() + 1, accumulate ? nullptr : bias.data() + 1);
          for (std::int64_t i = 0; i < m; ++i)
            for (std::int64_t j = 0; j < s.y_stride; ++j) {
              const std::int64_t at = 1 + i * s.y_stride + j;
              double expected = before.data()[at];  // what lies between the rows stays as it is
              if (j < n) {
                if (!accumulate) expected = bias.data()[1 + j];
                for (std::int64_t p = 0; p < k; ++p)
                  expected += static_cast<double>(x.data()[1 + i * s.x_stride + p]) * w.data()[1 + j * s.w_stride + p];
              }
              ASSERT_NEAR(y.data()[at], expected, 1e-5 * std::sqrt(static_cast<double>(k) + 1))
                  << "m " << m << " n " << n << " k " << k << " at " << i << ", " << j;
            }
        }
}

TEST(FewRows, OfNothingAreNothing) {
  const Tensor y = Tensor::full({2, 3}, 5.f);
  few_rows({0, 3, 4, 4, 4, 3}, nullptr, nullptr, y.data(), nullptr);
  few_rows({2, 0, 4, 4, 4, 3}, nullptr, nullptr, y.data(), nullptr);
  EXPECT_EQ(y.to_vector(), std::vector<float>(6, 5.f));
  few_rows({2, 3, 0, 0, 0, 3}, y.data(), y.data(), y.data(), nullptr);
  EXPECT_EQ(y.to_vector(), std::vector<float>(6, 0.f));
}

TEST(FewRows, ARowHasTheSameBitsAloneInABatchAndOnAnyNumberOfThreads) {
  const int before = threads();
  for (const std::int64_t k : {48, 515, 2048}) {
    const std::int64_t m = 29, n = 301;
    const Tensor x = random(m * k), w = random(n * k), bias = random(n), all = random(m * n), one = random(m * n);
    set_threads(2);
    few_rows({m, n, k, k, k, n}, x.data(), w.data(), all.data(), bias.data());
    set_threads(1);
    for (std::int64_t i = 0; i < m; ++i)
      few_rows({1, n, k, k, k, n}, x.data() + i * k, w.data(), one.data() + i * n, bias.data());
    EXPECT_EQ(all.to_vector(), one.to_vector()) << "k " << k;
  }
  set_threads(before);
}

TEST(FewRows, AreWhatAProductOfFewRowsTakes) {
  const std::int64_t m = 5, n = 40, k = 130;
  const Tensor x = random(m * k), w = random(n * k), all = random(m * n), one = random(n);
  matmul({.m = m, .n = n, .k = k, .transpose_b = true}, x.data(), w.data(), all.data());
  matmul({.m = 1, .n = n, .k = k, .transpose_b = true}, x.data() + 3 * k, w.data(), one.data());
  for (std::int64_t j = 0; j < n; ++j) EXPECT_EQ(all.data()[3 * n + j], one.data()[j]);
}

}  // namespace
}  // namespace attend::kernels
