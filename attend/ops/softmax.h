// Softmax over the last dimension: plain, as logarithm, over a valid prefix of each row, and under any mask.
#pragma once
#include "attend/core/tensor.h"
#include "attend/ops/mask.h"

namespace attend {

/// e^x / sum of e^x.   x [..., D] -> [..., D]. A row of nothing but -infinity gives zeros.
Tensor softmax(const Tensor& x);

/// log(softmax(x)) without leaving the logarithm.   x [..., D] -> [..., D]
Tensor log_softmax(const Tensor& x);

/// The softmax over the first lengths[...] elements of each row; the rest, and all of a row of length 0, are zeros with
/// zero gradients.   x [..., D], lengths int32 over the leading dimensions: x [B, T, D] takes [B] (all T rows alike) or
/// [B, T]. Throws when a length is negative or larger than D.
Tensor masked_softmax(const Tensor& x, const Tensor& lengths);

/// The softmax over the keys that each query may see: what attention() does inside, for scores that are no dot
/// products. scores [B, T, S] or [B, H, T, S] -> the same. A query that sees nothing gives zeros.
Tensor masked_softmax(const Tensor& scores, const Mask& mask);

}  // namespace attend
