// Matrices quantised to int8: row i is scale[i] · values[i]. They need a quarter of the memory bandwidth of float32,
// which limits the speed of decoding.
#pragma once
#include <cstdint>

namespace attend::kernels {

/// Quantises each row of w [n, k] to integers in ±127. The scale is the largest absolute value / 127; 0 for a row of
/// zeros.
void quantise_rows(std::int64_t n, std::int64_t k, const float* w, std::int8_t* values, float* scale);
/// Converts a quantised matrix back to w [n, k].
void restore_rows(std::int64_t n, std::int64_t k, const std::int8_t* values, const float* scale, float* w);

/// y [m, n] = x [m, k] · Wᵀ + bias, all contiguous; `bias` [n] may be null. Up to kFewRows rows are computed by
/// few_rows(). For more rows, parts of W are converted to float32 and multiplied one after the other.
struct ByteProduct {
  std::int64_t m = 0, n = 0, k = 0;
};
void matmul(const ByteProduct& shape, const float* x, const std::int8_t* values, const float* scale, float* y,
            const float* bias = nullptr);

}  // namespace attend::kernels
