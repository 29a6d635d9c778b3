// The affine map with its activation, fused: the product, then bias and activation in one pass over the result.
#pragma once
#include <span>

#include "attend/core/tensor.h"
#include "attend/kernels/activation.h"

namespace attend {

/// y = activation(x Wᵀ + b).   x [..., K], weight [N, K] (PyTorch's layout), bias [N] or undefined -> [..., N]
/// Keeps x, and the pre-activation where the derivative is not a function of y, for the backward pass.
Tensor linear(const Tensor& x, const Tensor& weight, const Tensor& bias = {}, Activation activation = Activation::none);

/// Several maps of one input, side by side, as queries, keys and values are.   weights [N_i, K] each, biases [N_i] each
/// or none at all -> [..., N_0 + N_1 + …].  One product where the parts lie one behind the other in memory, which
/// place_together() makes them do; otherwise one for each.
Tensor linear_together(const Tensor& x, std::span<const Tensor> weights, std::span<const Tensor> biases = {});
/// Moves tensors that differ in their first dimension only into one piece of memory, in this order.
void place_together(std::span<Tensor* const> parts);

}  // namespace attend
