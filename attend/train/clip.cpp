#include "attend/train/clip.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <unordered_set>
#include <vector>

#include "attend/core/error.h"
#include "attend/kernels/optimizer.h"
#include "attend/ops/tape.h"

namespace attend {
namespace {

std::vector<kernels::Values> gradients(std::span<const Tensor> parameters) {
  std::vector<kernels::Values> all;
  std::unordered_set<const Node*> seen;
  for (const Tensor& parameter : parameters)
    if (const Tensor gradient = grad(parameter); gradient && seen.insert(parameter.node().get()).second)
      all.push_back({gradient.numel(), gradient.data()});
  return all;
}

}  // namespace

double grad_norm(std::span<const Tensor> parameters) {
  return std::sqrt(kernels::sum_of_squares(gradients(parameters)));
}

float clip_scale(double norm, double max_norm) {
  if (!(max_norm > 0)) fail("clip_scale", "the maximum norm must be positive: got ", max_norm);
  if (!std::isfinite(norm)) return std::numeric_limits<float>::quiet_NaN();
  return static_cast<float>(std::min(1.0, max_norm / (norm + 1e-6)));
}

}  // namespace attend
