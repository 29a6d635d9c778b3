#include "attend/kernels/matmul.h"

#include <gtest/gtest.h>

#include <vector>

#include "attend/core/random.h"
#include "attend/core/tensor.h"
#include "attend/core/threads.h"

namespace attend::kernels {
namespace {

Tensor random(const Shape& shape) {
  Tensor x = Tensor::empty(shape);
  fill_normal(x, 0.f, 1.f);
  return x;
}

/// op(A) op(B) in double precision.
std::vector<double> naive(const MatmulShape& s, const float* a, const float* b) {
  std::vector<double> c(static_cast<std::size_t>(s.batch * s.m * s.n));
  for (std::int64_t l = 0; l < s.batch; ++l)
    for (std::int64_t i = 0; i < s.m; ++i)
      for (std::int64_t j = 0; j < s.n; ++j) {
        double sum = 0;
        for (std::int64_t p = 0; p < s.k; ++p) {
          const float x = a[l * s.m * s.k + (s.transpose_a ? p * s.m + i : i * s.k + p)];
          const float y = b[(s.broadcast_b ? 0 : l * s.k * s.n) + (s.transpose_b ? j * s.k + p : p * s.n + j)];
          sum += static_cast<double>(x) * y;
        }
        c[static_cast<std::size_t>((l * s.m + i) * s.n + j)] = sum;
      }
  return c;
}

TEST(Matmul, EqualsTheDefinitionForAllFlagsBatchesAndOddShapes) {
  for (const auto& [m, n, k] :
       {std::array<std::int64_t, 3>{1, 1, 1}, {7, 5, 3}, {1, 17, 13}, {31, 1, 64}, {33, 47, 29}, {161, 7, 11}})
    for (int flags = 0; flags < 16; ++flags) {
      MatmulShape s{m, n, k};
      s.transpose_a = flags & 1, s.transpose_b = flags & 2, s.accumulate = flags & 4;
      s.batch = flags & 8 ? 3 : 1;
      s.broadcast_b = flags == 8;
      const Tensor a = random({s.batch, m, k}), b = random({s.batch, k, n}), bias = random({n});
      const Tensor before = random({s.batch, m, n}), c = before.copy();
      matmul(s, a.data(), b.data(), c.data(), bias.data());
      const std::vector<double> expected = naive(s, a.data(), b.data());
      for (std::int64_t i = 0; i < c.numel(); ++i)
        ASSERT_NEAR(
            c.data()[i],
            expected[static_cast<std::size_t>(i)] + bias.data()[i % n] + (s.accumulate ? before.data()[i] : 0.f), 1e-4)
            << "m " << m << " n " << n << " k " << k << " flags " << flags << " at " << i;
    }
}

TEST(Matmul, RowStridesSelectPartsOfWiderMatrices) {
  const Tensor a = random({6, 10}), b = random({4, 8}), wide = Tensor::zeros({6, 9});
  MatmulShape s{6, 5, 4};
  s.a_stride = 10, s.b_stride = 8, s.c_stride = 9;
  matmul(s, a.data() + 2, b.data() + 1, wide.data() + 3);
  for (int i = 0; i < 6; ++i)
    for (int j = 0; j < 9; ++j) {
      double sum = 0;
      if (j >= 3 && j < 8)
        for (int p = 0; p < 4; ++p) sum += static_cast<double>(a.data()[i * 10 + 2 + p]) * b.data()[p * 8 + 1 + j - 3];
      EXPECT_NEAR(wide.data()[i * 9 + j], sum, 1e-5);
    }
}

TEST(Matmul, AnEmptySumIsZero) {
  const Tensor c = Tensor::full({2, 3}, 5.f);
  matmul({2, 3, 0}, nullptr, nullptr, c.data());
  EXPECT_EQ(c.to_vector(), std::vector<float>(6, 0.f));
}

TEST(Matmul, OneThreadEqualsTwo) {
  const Tensor a = random({65, 130}), b = random({130, 70}), one = Tensor::empty({65, 70}),
               two = Tensor::empty({65, 70});
  const int before = threads();
  set_threads(1);
  matmul({65, 70, 130}, a.data(), b.data(), one.data());
  set_threads(2);
  matmul({65, 70, 130}, a.data(), b.data(), two.data());
  set_threads(before);
  for (std::int64_t i = 0; i < one.numel(); ++i) EXPECT_NEAR(one.data()[i], two.data()[i], 2e-5);
}

}  // namespace
}  // namespace attend::kernels
