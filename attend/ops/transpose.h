// Transposition by copying. For matrix products, use the transpose flags of matmul() instead, which copy nothing.
#pragma once
#include "attend/core/tensor.h"

namespace attend {

/// Swaps the dimensions i and j.   transpose([B, T, D], 1, 2) -> [B, D, T]
Tensor transpose(const Tensor& x, int i, int j);

}  // namespace attend
