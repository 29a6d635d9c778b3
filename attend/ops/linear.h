// The linear map with bias and activation. Bias and activation are applied in one pass over the result.
#pragma once
#include <span>
#include <vector>

#include "attend/core/tensor.h"
#include "attend/kernels/activation.h"

namespace attend {

/// y = activation(x Wᵀ + b).   x [..., K], weight [N, K] (PyTorch's layout), bias [N] or undefined -> [..., N]
/// The backward pass needs x, and also the pre-activation if the derivative cannot be computed from y.
Tensor linear(const Tensor& x, const Tensor& weight, const Tensor& bias = {}, Activation activation = Activation::none);

/// The concatenated results of several linear maps of the same input, for example queries, keys and values. weights
/// [N_i, K] each, biases [N_i] each or none at all -> [..., N_0 + N_1 + …]. It is one matrix product if the weights are
/// contiguous in memory (see place_together), otherwise one for each weight.
Tensor linear_together(const Tensor& x, std::span<const Tensor> weights, std::span<const Tensor> biases = {});
/// The same for several groups of weights, with a result for each group. The products of few rows share one parallel
/// loop.
struct LinearGroup {
  std::vector<Tensor> weights, biases;
};
std::vector<Tensor> linear_groups(const Tensor& x, std::span<const LinearGroup> groups);
/// Copies tensors, which may differ in the first dimension only, into one contiguous block of memory, in this order.
void place_together(std::span<Tensor* const> parts);

}  // namespace attend
