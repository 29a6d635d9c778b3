// A matrix product for few rows of x, as in decoding. The weights are used as they are stored, without packing or
// copying, and each is read from memory once. One row is limited by the memory bandwidth, some dozens of rows by the
// processor. matmul() calls this kernel for suitable shapes, and is faster for many rows.
#pragma once
#include <cstdint>
#include <span>

namespace attend::kernels {

/// y [m, n] (=|+=) x [m, k] · Wᵀ + bias, W [n, k]. All are row-major, with the given row strides in elements.
struct FewRows {
  std::int64_t m = 0, n = 0, k = 0;
  std::int64_t x_stride = 0, w_stride = 0, y_stride = 0;
  bool accumulate = false;  ///< add to y instead of overwriting it
};

/// `bias` [n] may be null. The bits of an element depend only on its row of x, its row of W and the instruction set,
/// not on the number of threads or the other rows. So a sentence is decoded in the same way alone and in a batch.
void few_rows(const FewRows& shape, const float* x, const float* w, float* y, const float* bias);
/// few_rows with int8 weights: row j of W is scale[j] · w[j]. Each row of x is quantised to 15 bits, relative to its
/// largest absolute value, and the products are computed with integers. The error is negligible compared to that of
/// 8-bit weights.
void few_rows(const FewRows& shape, const float* x, const std::int8_t* w, const float* scale, float* y,
              const float* bias);

/// One of several products with the same x: y [m, n] = x · Wᵀ + bias.
template <class Weights>  // const float* or HalfNumbers
struct RowsPart {
  Weights w;  ///< [n, k]
  std::int64_t n = 0;
  const float* bias = nullptr;  ///< [n]; may be null
  float* y = nullptr;
  std::int64_t y_stride = 0;
};

/// Several products with the same x, with the same bits as one after the other. The threads wait for each other only
/// once, which counts for one row: then a product takes microseconds. `n` and `y_stride` of the shape are not used.
void few_rows(const FewRows& shape, const float* x, std::span<const RowsPart<const float*>> parts);

/// The maximum number of rows for which few_rows is as fast as a general matrix product.
inline constexpr std::int64_t kFewRows = 64;

}  // namespace attend::kernels
