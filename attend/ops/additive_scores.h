// Additive attention scores (Bahdanau et al. 2015, appendix A.1.2); the projections of queries and keys are linear's.
#pragma once
#include "attend/core/tensor.h"

namespace attend {

/// scores[b, i, j] = v · tanh(q[b, i] + k[b, j]).   q [B, T, D], k [B, S, D], v [D] -> [B, T, S]
/// With key lengths (int32 [B], each 0…S) the scores beyond them are 0 and cost nothing. Memory is that of the result.
Tensor additive_scores(const Tensor& q, const Tensor& k, const Tensor& v, const Tensor& lengths = {});

}  // namespace attend
