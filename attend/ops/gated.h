// The gated activation of GLU variants (Shazeer 2020, eq. 5) as one op: SwiGLU with silu, GEGLU with gelu, ReGLU with
// relu.
#pragma once
#include "attend/core/tensor.h"
#include "attend/kernels/activation.h"

namespace attend {

/// y = activation(gate) · up, where each row of x contains gate [F] and then up [F].   x [..., 2·F] -> [..., F]
/// linear_together() computes such rows from two linear layers. The backward pass needs x.
Tensor gated(const Tensor& x, Activation activation);

}  // namespace attend
