// Cosine similarity, which memory models use for content-based addressing (Graves et al. 2014, eq. 6).
#pragma once
#include "attend/core/tensor.h"

namespace attend {

/// s[b, i, j] = q[b, i] · k[b, j] / (max(‖q[b, i]‖, eps) max(‖k[b, j]‖, eps)).   q [B, T, D], k [B, S, D] -> [B, T, S]
Tensor cosine_similarity(const Tensor& q, const Tensor& k, float eps = 1e-8f);

}  // namespace attend
