// The gradient of a weight: the product dyᵀ x over all rows of a batch.
#pragma once
#include <cstdint>
#include <span>

namespace attend::kernels {

/// A piece of the rows of a batch. There may be several pieces, for example the steps of an unrolled loop.
struct BatchRows {
  std::int64_t rows = 0;
  const float* dy = nullptr;  ///< [rows, m]
  const float* x = nullptr;   ///< [rows, n]
};

/// dw [m, n] (+)= Σ dyᵀ x over all pieces. A single piece with a large dw is computed by matmul(). Otherwise the order
/// of additions depends on the shapes only, not on the number of threads.
struct WeightGradient {
  std::int64_t m = 0, n = 0;
  bool accumulate = false;
};
void weight_gradient(const WeightGradient& shape, std::span<const BatchRows> pieces, float* dw);

}  // namespace attend::kernels
