// Softmax and log-softmax over the last dimension, also with lengths or a mask.
#pragma once
#include "attend/core/tensor.h"
#include "attend/ops/mask.h"

namespace attend {

/// e^x / Σ e^x.   x [..., D] -> [..., D]. If all elements of a row are -infinity, the result is zero.
Tensor softmax(const Tensor& x);

/// log(softmax(x)), computed without overflow or underflow.   x [..., D] -> [..., D]
Tensor log_softmax(const Tensor& x);

/// The softmax of the first lengths[...] elements of each row. The other elements are zero, with a gradient of zero.
/// `lengths` is int32 and has the leading dimensions of x [..., D]: for x [B, T, D] it is [B], the same for all T rows,
/// or [B, T]. Throws if a length is negative or larger than D.
Tensor masked_softmax(const Tensor& x, const Tensor& lengths);

/// The softmax over the keys that the mask allows for each query. For scores other than dot products; attention()
/// contains its own softmax. scores [B, T, S] or [B, H, T, S] -> the same shape. The result is zero for a query whose
/// keys are all masked.
Tensor masked_softmax(const Tensor& scores, const Mask& mask);

}  // namespace attend
