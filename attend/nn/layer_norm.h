// Layer normalisation as a layer.
#pragma once
#include "attend/nn/norm.h"

namespace attend {

struct LayerNorm : Norm {
  LayerNorm() = default;
  explicit LayerNorm(std::int64_t width, float epsilon = 1e-5f) : Norm(width, {.eps = epsilon}) {}
};

}  // namespace attend
