// Checks for all kernels that compute y = x Wᵀ + bias.
#pragma once
#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "attend/core/random.h"
#include "attend/core/tensor.h"
#include "attend/kernels/few_rows.h"

namespace attend::kernels {

using RowsKernel = void (*)(const FewRows&, const float* x, const float* w, float* y, const float* bias);

inline Tensor random_floats(std::int64_t count) {
  Tensor x = Tensor::empty({count});
  fill_normal(x, 0.f, 1.f);
  return x;
}

/// Compares the kernel with the definition, with a bias or with accumulation.
inline void expect_product_of_rows(RowsKernel kernel, const FewRows& s) {
  // Misaligned by one element, as in a mapped file.
  const Tensor x = random_floats(1 + s.m * s.x_stride), w = random_floats(1 + s.n * s.w_stride),
               bias = random_floats(s.n + 1);
  const Tensor before = random_floats(1 + s.m * s.y_stride), y = before.copy();
  kernel(s, x.data() + 1, w.data() + 1, y.data() + 1, s.accumulate ? nullptr : bias.data() + 1);
  for (std::int64_t i = 0; i < s.m; ++i)
    for (std::int64_t j = 0; j < s.y_stride; ++j) {
      const std::int64_t at = 1 + i * s.y_stride + j;
      double expected = before.data()[at];  // elements between the rows do not change
      if (j < s.n) {
        if (!s.accumulate) expected = bias.data()[1 + j];
        for (std::int64_t p = 0; p < s.k; ++p)
          expected += static_cast<double>(x.data()[1 + i * s.x_stride + p]) * w.data()[1 + j * s.w_stride + p];
      }
      ASSERT_NEAR(y.data()[at], expected, 1e-5 * std::sqrt(static_cast<double>(s.k) + 1))
          << "m " << s.m << " n " << s.n << " k " << s.k << " at " << i << ", " << j;
    }
}

/// Without rows or columns, nothing is written. With k = 0, the result is zero.
inline void expect_empty_sizes_work(RowsKernel kernel) {
  const Tensor y = Tensor::full({2, 3}, 5.f);
  kernel({0, 3, 4, 4, 4, 3}, nullptr, nullptr, y.data(), nullptr);
  kernel({2, 0, 4, 4, 4, 3}, nullptr, nullptr, y.data(), nullptr);
  EXPECT_EQ(y.to_vector(), std::vector<float>(6, 5.f));
  kernel({2, 3, 0, 0, 0, 3}, y.data(), y.data(), y.data(), nullptr);
  EXPECT_EQ(y.to_vector(), std::vector<float>(6, 0.f));
}

}  // namespace attend::kernels
