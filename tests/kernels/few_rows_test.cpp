#include "attend/kernels/few_rows.h"

#include <gtest/gtest.h>

#include <vector>

#include "attend/core/convert.h"
#include "attend/core/threads.h"
#include "attend/kernels/half.h"
#include "attend/kernels/matmul.h"
#include "tests/kernels/products_of_rows.h"

namespace attend::kernels {
namespace {

TEST(FewRows, EqualTheDefinitionForOddSizesAndStrides) {
  for (const std::int64_t k : {0, 1, 7, 8, 33, 128, 771, 1600})
    for (const std::int64_t n : {1, 3, 4, 9, 70})
      for (const std::int64_t m : {1, 2, 4, 7, 13})
        for (const bool accumulate : {false, true})
          expect_product_of_rows(few_rows, {m, n, k, k + 3, k + 1, n + 2, accumulate});
}

TEST(FewRows, EmptySizesWork) { expect_empty_sizes_work(few_rows); }

TEST(FewRows, ARowHasTheSameBitsAloneInABatchAndOnAnyNumberOfThreads) {
  const int before = threads();
  for (const std::int64_t k : {48, 515, 2048}) {
    const std::int64_t m = 29, n = 301;
    const Tensor x = random_floats(m * k), w = random_floats(n * k), bias = random_floats(n),
                 all = random_floats(m * n), one = random_floats(m * n);
    set_threads(2);
    few_rows({m, n, k, k, k, n}, x.data(), w.data(), all.data(), bias.data());
    set_threads(1);
    for (std::int64_t i = 0; i < m; ++i)
      few_rows({1, n, k, k, k, n}, x.data() + i * k, w.data(), one.data() + i * n, bias.data());
    EXPECT_EQ(all.to_vector(), one.to_vector()) << "k " << k;
  }
  set_threads(before);
}

TEST(FewRows, AreUsedByMatmulForFewRows) {
  const std::int64_t m = 5, n = 40, k = 130;
  const Tensor x = random_floats(m * k), w = random_floats(n * k), all = random_floats(m * n), one = random_floats(n);
  matmul({.m = m, .n = n, .k = k, .transpose_b = true}, x.data(), w.data(), all.data());
  matmul({.m = 1, .n = n, .k = k, .transpose_b = true}, x.data() + 3 * k, w.data(), one.data());
  for (std::int64_t j = 0; j < n; ++j) EXPECT_EQ(all.data()[3 * n + j], one.data()[j]);
}

TEST(FewRows, SeveralProductsHaveTheBitsOfEachAloneOnAnyNumberOfThreads) {
  const int before = threads();
  for (const std::int64_t m : {1, 5, 29}) {
    const std::int64_t k = 515, sizes[] = {301, 0, 3, 700, 64};
    const Tensor x = random_floats(m * k), bias = random_floats(1100);
    std::vector<Tensor> weights, halves, together, apart;
    std::vector<RowsPart<const float*>> parts;
    std::vector<RowsPart<HalfNumbers>> half_parts;
    const auto half_numbers = [](const Tensor& w) {
      return HalfNumbers{reinterpret_cast<const std::uint16_t*>(w.raw()), true};
    };
    for (const std::int64_t n : sizes) {
      weights.push_back(random_floats(n * k)), halves.push_back(convert(weights.back(), DType::bf16));
      for (int kind = 0; kind < 2; ++kind)
        together.push_back(Tensor::zeros({m, n + 2})), apart.push_back(Tensor::zeros({m, n + 2}));
      const float* added = n == 3 ? nullptr : bias.data();
      parts.push_back({weights.back().data(), n, added, together[together.size() - 2].data(), n + 2});
      half_parts.push_back({half_numbers(halves.back()), n, added, together.back().data(), n + 2});
      set_threads(1);
      const FewRows shape{m, n, k, k, k, n + 2};
      few_rows(shape, x.data(), weights.back().data(), apart[apart.size() - 2].data(), added);
      few_rows(shape, x.data(), half_numbers(halves.back()), apart.back().data(), added);
    }
    for (const int count : {1, 2}) {
      set_threads(count);
      few_rows({.m = m, .k = k, .x_stride = k, .w_stride = k}, x.data(), parts);
      few_rows({.m = m, .k = k, .x_stride = k, .w_stride = k}, x.data(), half_parts);
      for (std::size_t i = 0; i < together.size(); ++i)
        EXPECT_EQ(together[i].to_vector(), apart[i].to_vector()) << m << " rows, result " << i;
    }
  }
  set_threads(before);
}

}  // namespace
}  // namespace attend::kernels
