// Long short-term memory (Hochreiter & Schmidhuber 1997, with forget gates) over whole sequences, as one operation.
#pragma once
#include "attend/ops/recurrence.h"

namespace attend {

/// One layer in one direction. At each step, with h and c the state and the cells before it:
///   i = σ(W_ii x + b_ii + W_hi h + b_hi)
///   f = σ(W_if x + b_if + W_hf h + b_hf)
///   g = tanh(W_ig x + b_ig + W_hg h + b_hg)
///   o = σ(W_io x + b_io + W_ho h + b_ho)
///   c' = f ⊙ c + i ⊙ g,   h' = o ⊙ tanh(c')
/// x [B, T, I] -> y [B, T, H], h [B, H], c [B, H]. Throws on shapes that do not fit and lengths beyond T.
RecurrentResult lstm(const Tensor& x, const RecurrentWeights& weights, const RecurrentOptions& options = {});

}  // namespace attend
