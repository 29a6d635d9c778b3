// Gated activations.
#pragma once
#include <cstdint>

#include "attend/kernels/activation.h"

namespace attend::kernels {

/// y = activation(gate) * up, where each row of x contains gate and then up.   x [rows, 2 * cols], y [rows, cols]
void gated(std::int64_t rows, std::int64_t cols, const float* x, Activation activation, float* y);

/// dgate = dy * up * activation'(gate); dup = dy * activation(gate).   dy [rows, cols]; x, dx [rows, 2 * cols]
/// With add_to_dx, they are added to dx.
void gated_backward(std::int64_t rows, std::int64_t cols, const float* x, const float* dy, Activation activation,
                    float* dx, bool add_to_dx);

}  // namespace attend::kernels
