#include "attend/kernels/row_blocks.h"

#include <gtest/gtest.h>

#include <cmath>

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

TEST(RowBlocks, EqualTheDefinitionAtOddSizesAndPlaces) {
  for (const std::int64_t k : {0, 1, 7, 33, 771, 1600})
    for (const std::int64_t n : {1, 5, 12, 31, 199})
      for (const std::int64_t m : {1, 9, 16, 61, 128, 131})
        for (const bool accumulate : {false, true}) {
          // Distances between rows as they come, and of whole pages; places that vectors do not like.
          const FewRows s{m, n, k, k + 3, n == 31 ? (k + 1024) / 1024 * 1024 : k + 1, n + 2, accumulate};
          const Tensor x = random(1 + m * s.x_stride), w = random(1 + n * s.w_stride), bias = random(n + 1);
          const Tensor before = random(1 + m * s.y_stride), y = before.copy();
          row_blocks(s, x.data() + 1, w.data() + 1, y.data() + 1, accumulate ? nullptr : bias.data() + 1);
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

TEST(RowBlocks, OfNothingAreNothing) {
  const Tensor y = Tensor::full({2, 3}, 5.f);
  row_blocks({0, 3, 4, 4, 4, 3}, nullptr, nullptr, y.data(), nullptr);
  row_blocks({2, 0, 4, 4, 4, 3}, nullptr, nullptr, y.data(), nullptr);
  EXPECT_EQ(y.to_vector(), std::vector<float>(6, 5.f));
}

TEST(RowBlocks, ARowHasTheSameBitsAmongOthersAndOnAnyNumberOfThreads) {
  const int before = threads();
  for (const std::int64_t k : {48, 515, 2048}) {
    const std::int64_t m = 201, n = 401, part = 70;
    const Tensor x = random(m * k), w = random(n * k), bias = random(n), all = random(m * n), some = random(part * n);
    set_threads(2);
    matmul({.m = m, .n = n, .k = k, .transpose_b = true}, x.data(), w.data(), all.data(), bias.data());
    set_threads(1);
    for (const std::int64_t first : {0, 64, 131}) {
      matmul({.m = part, .n = n, .k = k, .transpose_b = true}, x.data() + first * k, w.data(), some.data(),
             bias.data());
      for (std::int64_t i = 0; i < part * n; ++i) ASSERT_EQ(all.data()[first * n + i], some.data()[i]) << "k " << k;
    }
  }
  set_threads(before);
}

}  // namespace
}  // namespace attend::kernels
