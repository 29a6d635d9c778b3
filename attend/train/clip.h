// Clipping of gradients by their norm (Pascanu et al. 2013).
#pragma once
#include <span>

#include "attend/core/tensor.h"

namespace attend {

/// The L2 norm of all gradients of these leaves together, in float64 and the same for any number of threads; those
/// without a gradient count as 0, and one that is listed twice (tied weights) counts once. Infinite or NaN when a
/// gradient is: the caller decides, usually by skipping the step.
double grad_norm(std::span<const Tensor> parameters);

/// min(1, max_norm / (norm + 1e-6)): what the gradients are to be multiplied by. Optimizer::step takes it, which saves
/// a pass. Of a norm that is not finite it is NaN, as nothing repairs such gradients.
float clip_scale(double norm, double max_norm);

/// Scales all gradients in place so that their norm is at most max_norm, and returns the norm before. Gradients of a
/// norm that is not finite are left as they are.
double clip_grad_norm(std::span<const Tensor> parameters, double max_norm);

}  // namespace attend
