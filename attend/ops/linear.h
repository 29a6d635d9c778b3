// The affine map with its activation, fused: the product, then bias and activation in one pass over the result.
#pragma once
#include "attend/core/tensor.h"
#include "attend/kernels/activation.h"

namespace attend {

/// y = activation(x Wᵀ + b).   x [..., K], weight [N, K] (PyTorch's layout), bias [N] or undefined -> [..., N]
/// Keeps x, and the pre-activation where the derivative is not a function of y, for the backward pass.
Tensor linear(const Tensor& x, const Tensor& weight, const Tensor& bias = {}, Activation activation = Activation::none);

}  // namespace attend
