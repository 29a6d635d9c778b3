#include "attend/kernels/row_blocks.h"

#include <gtest/gtest.h>

#include "attend/core/threads.h"
#include "attend/kernels/half.h"
#include "attend/kernels/int8.h"
#include "attend/kernels/matmul.h"
#include "tests/kernels/products_of_rows.h"

namespace attend::kernels {
namespace {

TEST(RowBlocks, EqualTheDefinitionForOddSizesAndStrides) {
  for (const std::int64_t k : {0, 1, 7, 33, 771, 1600})
    for (const std::int64_t n : {1, 5, 12, 31, 199})
      for (const std::int64_t m : {1, 9, 16, 61, 128, 131})
        for (const bool accumulate : {false, true}) {
          const std::int64_t w_stride = n == 31 ? (k + 1024) / 1024 * 1024 : k + 1;  // a multiple of a page, or odd
          expect_product_of_rows(row_blocks, {m, n, k, k + 3, w_stride, n + 2, accumulate});
        }
}

TEST(RowBlocks, EmptySizesWork) { expect_empty_sizes_work(row_blocks); }

TEST(RowBlocks, ARowHasTheSameBitsInEveryBatchAndForAnyNumberOfThreads) {
  const int before = threads();
  for (const std::int64_t k : {48, 515, 2048}) {
    const std::int64_t m = 201, n = 401, part = 70;
    const Tensor x = random_floats(m * k), w = random_floats(n * k), bias = random_floats(n),
                 all = random_floats(m * n), some = random_floats(part * n);
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

TEST(RowBlocks, UniformRowsHaveTheSameBitsInProductsOfAnySizeAndOfAllWeights) {
  for (const std::int64_t n : {7, 130}) {
    const std::int64_t m = 700, k = 96;
    const Tensor x = random_floats(m * k), w = random_floats(n * k), all = random_floats(m * n), one = random_floats(n);
    std::vector<std::uint16_t> halves(static_cast<std::size_t>(n * k), 0x3C01);
    std::vector<std::int8_t> bytes(static_cast<std::size_t>(n * k), 3);
    const Tensor scale = random_floats(n);
    const auto products = [&](std::int64_t first, std::int64_t rows, float* y, int kind) {
      const float* from = x.data() + first * k;
      const MatmulShape shape{.m = rows, .n = n, .k = k, .transpose_b = true};
      if (kind == 0) return matmul(shape, from, w.data(), y);
      if (kind == 1) return matmul(shape, from, HalfNumbers{halves.data(), true}, y);
      matmul(ByteProduct{rows, n, k}, from, bytes.data(), scale.data(), y, nullptr);
    };
    for (int kind = 0; kind < 3; ++kind) {
      const UniformRows uniform;
      products(0, m, all.data(), kind);
      for (const std::int64_t row : {0, 64, 699}) {
        products(row, 1, one.data(), kind);
        for (std::int64_t j = 0; j < n; ++j) ASSERT_EQ(all.data()[row * n + j], one.data()[j]) << kind << ", " << row;
      }
    }
    EXPECT_FALSE(UniformRows::active());
  }
}

}  // namespace
}  // namespace attend::kernels
