// The gated activation of GLU variants (Shazeer 2020, eq. 5), fused: SwiGLU with silu, GEGLU with gelu, ReGLU with
// relu.
#pragma once
#include "attend/core/tensor.h"
#include "attend/kernels/activation.h"

namespace attend {

/// y = activation(gate) * up.   x [..., 2·F], whose rows are a gate [F] and then an up [F] -> [..., F]
/// Keeps x for the backward pass. linear_together() makes such rows of two linear layers.
Tensor gated(const Tensor& x, Activation activation);

}  // namespace attend
