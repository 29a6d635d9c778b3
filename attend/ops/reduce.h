// Sums, means and maxima: over a dimension, over everything, and over the first rows of sequences of different lengths.
#pragma once
#include "attend/core/tensor.h"

namespace attend {

/// Σ over one dimension, which goes, or stays with size 1 when it is to be kept.   [..., N, ...] -> [..., ...]
Tensor sum(const Tensor& x, int dim, bool keepdim = false);
/// sum / N; over nothing (N = 0) it is 0.
Tensor mean(const Tensor& x, int dim, bool keepdim = false);
/// The largest; its gradient goes to the first of equals. NaN counts as the largest. Throws when N is 0.
Tensor max(const Tensor& x, int dim, bool keepdim = false);
/// Where the largest is, as int32, without gradient; the first of equals.
Tensor argmax(const Tensor& x, int dim, bool keepdim = false);

/// Over all elements.   [...] -> []
Tensor sum(const Tensor& x);
Tensor mean(const Tensor& x);
Tensor max(const Tensor& x);

/// Over the first lengths[b] steps of each sequence; a length of 0 gives zeros.   x [B, T, D], lengths [B] -> [B, D]
Tensor sum(const Tensor& x, const Tensor& lengths);
Tensor mean(const Tensor& x, const Tensor& lengths);
Tensor max(const Tensor& x, const Tensor& lengths);

}  // namespace attend
