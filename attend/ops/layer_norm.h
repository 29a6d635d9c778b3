// Layer normalisation over the last dimension (Ba et al. 2016, eq. 4), alone and fused with the residual sum.
#pragma once
#include "attend/core/tensor.h"

namespace attend {

/// y = (x - mean) / sqrt(var + eps) * gain + bias.   x [..., D], gain [D], bias [D] -> [..., D]
Tensor layer_norm(const Tensor& x, const Tensor& gain, const Tensor& bias, float eps = 1e-5f);

/// layer_norm(x + residual) and the sum itself, which the next residual needs: one pass over memory instead of three.
struct AddNorm {
  Tensor sum, normed;
};
AddNorm add_layer_norm(const Tensor& x, const Tensor& residual, const Tensor& gain, const Tensor& bias,
                       float eps = 1e-5f);

}  // namespace attend
