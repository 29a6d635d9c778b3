// Additive attention scores (Bahdanau et al. 2015, appendix A.1.2). Project the queries and keys with linear() first.
#pragma once
#include "attend/core/tensor.h"

namespace attend {

/// scores[b, i, j] = v · tanh(q[b, i] + k[b, j]).   q [B, T, D], k [B, S, D], v [D] -> [B, T, S]
/// With `lengths` (int32 [B], each 0…S), the scores of padding keys are 0 and are not computed. The op allocates no
/// memory except for the result.
Tensor additive_scores(const Tensor& q, const Tensor& k, const Tensor& v, const Tensor& lengths = {});

}  // namespace attend
