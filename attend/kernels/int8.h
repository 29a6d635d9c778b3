// Matrices in a byte a weight: row i stands for scale[i] · values[i]. A quarter of the memory, which is what decoding
// waits for.
#pragma once
#include <cstdint>

namespace attend::kernels {

/// Each row of w [n, k] to whole numbers in ±127 and its scale, the greatest magnitude / 127; 0 for a row of zeros.
void quantise_rows(std::int64_t n, std::int64_t k, const float* w, std::int8_t* values, float* scale);
/// w [n, k] again.
void restore_rows(std::int64_t n, std::int64_t k, const std::int8_t* values, const float* scale, float* w);

/// y [m, n] = x [m, k] · Wᵀ + bias, all dense; `bias` [n] may be null. Few rows are few_rows.h's, with what it says of
/// their bits; for many, parts of W are restored and multiplied one after the other.
struct ByteProduct {
  std::int64_t m = 0, n = 0, k = 0;
};
void matmul(const ByteProduct& shape, const float* x, const std::int8_t* values, const float* scale, float* y,
            const float* bias = nullptr);

}  // namespace attend::kernels
