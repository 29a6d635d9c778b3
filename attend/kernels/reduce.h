// Sums and maxima over one dimension, and their backward passes. The tensor is viewed as [outer, n, inner], and the
// middle dimension is reduced. Results do not depend on the number of threads.
#pragma once
#include <cstdint>

#include "attend/kernels/broadcast.h"  // Store

namespace attend::kernels {

struct Middle {
  std::int64_t outer = 1, n = 1, inner = 1;
  /// [outer] or null: only the first lengths[o] of the n elements are used, 0 <= lengths[o] <= n.
  const std::int32_t* lengths = nullptr;
  /// Divide the sum by the number of terms; 0 if there are none.
  bool mean = false;
};

/// y[o, i] = Σ_t x[o, t, i].
void sum_middle(const Middle& middle, const float* x, float* y, Store store = {});
/// The backward pass of sum_middle: dx[o, t, i] = dy[o, i], and 0 beyond the length.
void spread_middle(const Middle& middle, const float* dy, float* dx, bool accumulate);

/// y[o, i] = max_t x[o, t, i], and the index of its first t. NaN is treated as the largest number. For a length of 0,
/// the result is 0 and the index -1.
void max_middle(const Middle& middle, const float* x, float* y, std::int32_t* index);
/// The backward pass of max_middle: dx[o, index[o, i], i] = dy[o, i], and 0 elsewhere.
void max_middle_backward(const Middle& middle, const std::int32_t* index, const float* dy, float* dx, bool accumulate);

}  // namespace attend::kernels
