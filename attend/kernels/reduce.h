// Sums and maxima over one dimension, and the ways back. The tensor is seen as [outer, n, inner]; the middle goes.
// Results do not depend on the number of threads.
#pragma once
#include <cstdint>

#include "attend/kernels/broadcast.h"  // Store

namespace attend::kernels {

struct Middle {
  std::int64_t outer = 1, n = 1, inner = 1;
  /// If given, [outer]: only the first lengths[o] of the n count, each between 0 and n.
  const std::int32_t* lengths = nullptr;
  /// Divides by the number of terms; nothing gives zero.
  bool mean = false;
};

/// y[o, i] = Σ_t x[o, t, i].
void sum_middle(const Middle& middle, const float* x, float* y, Store store = {});
/// The way back: dx[o, t, i] = dy[o, i], and 0 beyond the length.
void spread_middle(const Middle& middle, const float* dy, float* dx, bool accumulate);

/// y[o, i] = max_t x[o, t, i] and the first t where it is; NaN counts as the largest. Nothing gives 0 at index -1.
void max_middle(const Middle& middle, const float* x, float* y, std::int32_t* index);
/// The way back: dx[o, index[o, i], i] = dy[o, i], and 0 elsewhere.
void max_middle_backward(const Middle& middle, const std::int32_t* index, const float* dy, float* dx, bool accumulate);

}  // namespace attend::kernels
