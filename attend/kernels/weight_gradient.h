// The gradient of a weight: a product over all rows of a batch, on all threads.
#pragma once
#include <cstdint>
#include <span>

namespace attend::kernels {

/// Some rows of the batch, which may come in several pieces: the steps of an unrolled loop, say.
struct BatchRows {
  std::int64_t rows = 0;
  const float* dy = nullptr;  ///< [rows, m]
  const float* x = nullptr;   ///< [rows, n]
};

/// dw (+)= the sum of all pieces' dyᵀ x, [m, n].
/// One piece that makes a large dw is left to matmul(); otherwise both sides are packed, and added in an order
/// that depends on the shapes alone.
struct WeightGradient {
  std::int64_t m = 0, n = 0;
  bool accumulate = false;
};
void weight_gradient(const WeightGradient& shape, std::span<const BatchRows> pieces, float* dw);

}  // namespace attend::kernels
