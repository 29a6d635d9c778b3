// Elements chosen by a mask of int8, in which 0 is false. The mask broadcasts over the values, not the other way round.
#pragma once
#include "attend/core/tensor.h"

namespace attend {

/// y = mask ? a : b.   a and b [...] of one shape, mask of a shape that broadcasts to it -> [...]
Tensor where(const Tensor& mask, const Tensor& a, const Tensor& b);
/// y = mask ? value : x.
Tensor masked_fill(const Tensor& x, const Tensor& mask, float value);

}  // namespace attend
