// Gradient clipping by norm (Pascanu et al. 2013). To clip, pass the factor to Optimizer::step():
//
//   optimizer.step({.gradient_scale = clip_scale(grad_norm(optimizer.parameters()), 1.0)});
#pragma once
#include <span>

#include "attend/core/tensor.h"

namespace attend {

/// The L2 norm of all gradients together, computed in float64. The result does not depend on the number of threads. A
/// parameter without a gradient counts as 0; one that is listed twice (tied weights) counts once. If a gradient is
/// infinite or NaN, so is the norm; then the update should be skipped.
double grad_norm(std::span<const Tensor> parameters);

/// The factor for the gradients, min(1, max_norm / (norm + 1e-6)); NaN if the norm is not finite. Throws Error unless
/// max_norm is positive.
float clip_scale(double norm, double max_norm);

}  // namespace attend
