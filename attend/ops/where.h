// Element-wise selection by an int8 mask, in which 0 is false. The mask is broadcast to the shape of the values.
#pragma once
#include "attend/core/tensor.h"

namespace attend {

/// y = mask ? a : b.   a and b have the same shape, to which the mask broadcasts.
Tensor where(const Tensor& mask, const Tensor& a, const Tensor& b);
/// y = mask ? value : x.
Tensor masked_fill(const Tensor& x, const Tensor& mask, float value);

}  // namespace attend
