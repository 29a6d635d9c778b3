// Low-rank updates of a linear map, as in LoRA (Hu et al. 2021).
#pragma once
#include <cstdint>
#include <span>

#include "attend/core/tensor.h"

namespace attend {

/// The update scale · B A of a weight [N, K].
struct LowRank {
  Tensor a;                ///< [R, K]
  Tensor b;                ///< [N, R]
  float scale = 1.f;       ///< alpha / R
  float dropout = 0.f;     ///< on x, inside a Training scope
  std::int64_t first = 0;  ///< the first of the N columns of y that the update is added to
};

/// y + scale · dropout(x) Aᵀ Bᵀ for each update, in its columns.   y [..., M], x [..., K] -> [..., M]
/// Updates that follow each other and have the same `a` share dropout(x) Aᵀ. Overwrites y, which must be the result of
/// a linear map that no other operation has read. The backward pass keeps x and the products with A, not the results.
Tensor add_low_rank(Tensor y, const Tensor& x, std::span<const LowRank> updates);

}  // namespace attend
