// Sum, mean and maximum over one dimension, over all elements, or over sequences without their padding.
#pragma once
#include "attend/core/tensor.h"

namespace attend {

/// The sum over one dimension. The dimension is removed, or has size 1 if `keepdim`.   [..., N, ...] -> [..., ...]
Tensor sum(const Tensor& x, int dim, bool keepdim = false);
/// sum / N, or 0 if N = 0.
Tensor mean(const Tensor& x, int dim, bool keepdim = false);
/// The maximum. Of several equal elements, the first gets the gradient. NaN is treated as the largest value. Throws if
/// N is 0.
Tensor max(const Tensor& x, int dim, bool keepdim = false);
/// The index of the maximum as int32; the first one if there are several. Not differentiable.
Tensor argmax(const Tensor& x, int dim, bool keepdim = false);

/// The sum, mean or maximum of all elements.   [...] -> []
Tensor sum(const Tensor& x);
Tensor mean(const Tensor& x);
Tensor max(const Tensor& x);

/// The sum, mean or maximum of the first lengths[b] steps of each sequence; zero if the length is 0.
/// x [B, T, D], lengths int32 [B] -> [B, D]
Tensor sum(const Tensor& x, const Tensor& lengths);
Tensor mean(const Tensor& x, const Tensor& lengths);
Tensor max(const Tensor& x, const Tensor& lengths);

}  // namespace attend
