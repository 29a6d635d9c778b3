#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "tests/kernels/gemm_test.cpp"
#include "attend/kernels/foreach_target.h"  // IWYU pragma: keep

#include <hwy/highway.h>

#include "attend/kernels/gemm-inl.h"

#ifndef TESTS_KERNELS_GEMM_TEST_FORMS
#define TESTS_KERNELS_GEMM_TEST_FORMS
enum class Form { plain, packed, transposed, transposed_packed, weights };
#endif

HWY_BEFORE_NAMESPACE();
namespace attend::kernels::HWY_NAMESPACE {

// A is [m×k], or [k×m] if transposed. B is [k×n], or [n×k] for weights. lda, ldb and ldc are row strides.
void Multiply(Form form, std::int64_t m, std::int64_t n, std::int64_t k, const float* a, std::int64_t lda,
              const float* b, std::int64_t ldb, float* c, std::int64_t ldc, bool accumulate, float* scratch) {
  switch (form) {
    case Form::plain:
      return Gemm(m, n, k, a, lda, b, ldb, c, ldc, accumulate);
    case Form::transposed:
      return GemmAt(m, n, k, a, lda, b, ldb, c, ldc, accumulate);
    case Form::packed:
      Pack(k, n, b, ldb, scratch);
      return GemmPacked(m, n, k, a, lda, scratch, c, ldc, accumulate);
    case Form::transposed_packed:
      Pack(k, n, b, ldb, scratch);
      return GemmAtPacked(m, n, k, a, lda, scratch, c, ldc, accumulate);
    case Form::weights:
      PackTransposed(n, k, b, ldb, scratch);
      return GemmPacked(m, n, k, a, lda, scratch, c, ldc, accumulate);
  }
}

}  // namespace attend::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "attend/core/random.h"

namespace attend::kernels {
namespace {

HWY_EXPORT(Multiply);

std::vector<float> numbers(std::int64_t n, std::uint64_t stream) {
  std::vector<float> values(static_cast<std::size_t>(n));
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = uniform_from(philox({7, stream}, i)[0]) * 2.f - 1.f;
  return values;
}

void expect_product(Form form, std::int64_t m, std::int64_t n, std::int64_t k, bool accumulate) {
  const bool a_transposed = form == Form::transposed || form == Form::transposed_packed;
  const bool b_transposed = form == Form::weights;
  const std::int64_t lda = (a_transposed ? m : k) + 3, ldb = (b_transposed ? k : n) + 1, ldc = n + 2;
  // The arrays have no padding at the end, so that the address sanitizer detects accesses beyond the end.
  const std::vector<float> a = numbers(lda * ((a_transposed ? k : m) - 1) + lda - 3, 1);
  const std::vector<float> b = numbers(ldb * ((b_transposed ? n : k) - 1) + ldb - 1, 2);
  std::vector<float> c = numbers(ldc * m - 2, 3);
  const std::vector<float> before = c;
  std::vector<float> scratch(static_cast<std::size_t>((n + 256) * k));
  HWY_DYNAMIC_DISPATCH(Multiply)
  (form, m, n, k, a.data(), lda, b.data(), ldb, c.data(), ldc, accumulate, scratch.data());
  for (std::int64_t i = 0; i < m; ++i) {
    for (std::int64_t j = 0; j < ldc && i * ldc + j < static_cast<std::int64_t>(c.size()); ++j) {
      const auto at = static_cast<std::size_t>(i * ldc + j);
      if (j >= n) {
        ASSERT_EQ(c[at], before[at]) << "wrote between the rows";
        continue;
      }
      double sum = accumulate ? before[at] : 0.;
      for (std::int64_t p = 0; p < k; ++p) {
        sum += static_cast<double>(a[static_cast<std::size_t>(a_transposed ? p * lda + i : i * lda + p)]) *
               b[static_cast<std::size_t>(b_transposed ? j * ldb + p : p * ldb + j)];
      }
      ASSERT_NEAR(c[at], sum, 2e-7 * static_cast<double>(k + 8))
          << "form " << static_cast<int>(form) << ", m " << m << ", n " << n << ", k " << k;
    }
  }
}

TEST(Gemm, EveryFormIsCorrectForAllSizes) {
  for (const Form form : {Form::plain, Form::packed, Form::transposed, Form::transposed_packed, Form::weights})
    for (const std::int64_t m : {1, 2, 3, 4, 5, 6, 7, 13, 24})
      for (const std::int64_t n : {1, 2, 7, 8, 9, 16, 17, 31, 48, 61, 64, 67, 128})
        for (const std::int64_t k : {1, 2, 5, 64, 131, 300})
          for (const bool accumulate : {false, true})
            ASSERT_NO_FATAL_FAILURE(expect_product(form, m, n, k, accumulate));
}

TEST(Gemm, AnEmptySumIsZero) {
  std::vector<float> c(6, 1.f), scratch(64);
  HWY_DYNAMIC_DISPATCH(Multiply)
  (Form::plain, 2, 3, 0, c.data(), 1, c.data(), 3, c.data(), 3, false, scratch.data());
  for (const float value : c) EXPECT_EQ(value, 0.f);
}

TEST(Gemm, TheBitsOfARowDoNotDependOnOtherRowsOrTheLayout) {
  const std::int64_t m = 13, n = 37, k = 91;
  const std::vector<float> a = numbers(m * k, 1), b = numbers(k * n, 2);
  std::vector<float> all(static_cast<std::size_t>(m * n)), one(static_cast<std::size_t>(n)), scratch(64 * 91);
  HWY_DYNAMIC_DISPATCH(Multiply)
  (Form::plain, m, n, k, a.data(), k, b.data(), n, all.data(), n, false, scratch.data());
  for (std::int64_t i = 0; i < m; ++i) {
    HWY_DYNAMIC_DISPATCH(Multiply)
    (Form::packed, 1, n, k, a.data() + i * k, k, b.data(), n, one.data(), n, false, scratch.data());
    for (std::int64_t j = 0; j < n; ++j)
      ASSERT_EQ(one[static_cast<std::size_t>(j)], all[static_cast<std::size_t>(i * n + j)]);
  }
}

}  // namespace
}  // namespace attend::kernels
#endif
