// Layer normalisation as a layer.
#pragma once
#include "attend/nn/norm.h"

namespace attend {

struct LayerNorm : Norm {
  LayerNorm() = default;
  explicit LayerNorm(std::int64_t width, float epsilon = 1e-5f, bool with_bias = true)
      : Norm(width, {.eps = epsilon, .bias = with_bias}) {}
};

}  // namespace attend
