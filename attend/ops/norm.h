// Normalisation over the last dimension: layer normalisation (Ba et al. 2016, eq. 4), and RMS normalisation (Zhang &
// Sennrich 2019, eq. 4), which does not subtract the mean. Both can be fused with the residual sum.
#pragma once
#include "attend/core/tensor.h"

namespace attend {

/// y = (x - mean) / sqrt(var + eps) * gain + bias.   x [..., D], gain [D], bias [D] or undefined -> [..., D]
Tensor layer_norm(const Tensor& x, const Tensor& gain, const Tensor& bias = {}, float eps = 1e-5f);

/// y = x / sqrt(mean(x²) + eps) * gain.   x [..., D], gain [D] -> [..., D]
Tensor rms_norm(const Tensor& x, const Tensor& gain, float eps = 1e-6f);

/// The norm of x + residual, and the sum itself, which the next residual connection needs. Both are computed in one
/// pass over memory.
struct AddNorm {
  Tensor sum, normed;
};
AddNorm add_layer_norm(const Tensor& x, const Tensor& residual, const Tensor& gain, const Tensor& bias = {},
                       float eps = 1e-5f);
AddNorm add_rms_norm(const Tensor& x, const Tensor& residual, const Tensor& gain, float eps = 1e-6f);

}  // namespace attend
