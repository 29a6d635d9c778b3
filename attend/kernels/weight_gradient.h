// The gradient of a weight: a product over all rows of a batch, on all threads.
#pragma once
#include <cstdint>

namespace attend::kernels {

/// dw (+)= dyᵀ x.   dy [rows, m] and x [rows, n] with their elements between rows, dw [m, n].
/// matmul() with transpose_a computes the same; this packs both sides, which oneDNN does not do well where the rows are
/// many and the results few, and adds in an order that depends on the shape alone.
struct WeightGradient {
  std::int64_t rows = 0, m = 0, n = 0;
  std::int64_t dy_stride = 0, x_stride = 0;  // 0 when the rows are dense
  bool accumulate = false;
};
void weight_gradient(const WeightGradient& shape, const float* dy, const float* x, float* dw);

}  // namespace attend::kernels
