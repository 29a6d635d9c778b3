#include "attend/kernels/row_blocks.h"

#include <gtest/gtest.h>

#include "attend/core/threads.h"
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

}  // namespace
}  // namespace attend::kernels
