// Two dimensions swapped, by copying. Before a matrix product, its transpose flags do it for nothing.
#pragma once
#include "attend/core/tensor.h"

namespace attend {

/// x with the dimensions i and j swapped.   transpose([B, T, D], 1, 2) -> [B, D, T]
Tensor transpose(const Tensor& x, int i, int j);

}  // namespace attend
