// The gated recurrent unit (Cho et al. 2014, in PyTorch's form) over whole sequences, as one operation.
#pragma once
#include "attend/ops/recurrence.h"

namespace attend {

/// One layer in one direction. At each step, with h the state before it:
///   r = σ(W_ir x + b_ir + W_hr h + b_hr)
///   z = σ(W_iz x + b_iz + W_hz h + b_hz)
///   n = tanh(W_in x + b_in + r ⊙ (W_hn h + b_hn))
///   h' = (1 - z) ⊙ n + z ⊙ h
/// x [B, T, I] -> y [B, T, H], h [B, H]. Throws on shapes that do not fit and lengths beyond T. A decoder's single step
/// is T = 1: it costs two matrix products and nothing besides.
RecurrentResult gru(const Tensor& x, const RecurrentWeights& weights, const RecurrentOptions& options = {});

}  // namespace attend
