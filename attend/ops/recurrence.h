// GRU (Cho et al. 2014, in the form of PyTorch) and LSTM (Hochreiter & Schmidhuber 1997, with forget gates) over whole
// sequences, as one op: one layer in one direction. nn/recurrent.h has the layers.
#pragma once
#include "attend/core/tensor.h"
#include "attend/kernels/recurrent.h"

namespace attend {

/// The parameters of a layer, laid out as in PyTorch: the gates are blocks of H rows, in the order r, z, n (GRU, G = 3)
/// or i, f, g, o (LSTM, G = 4). Either both biases are defined or none.
struct RecurrentWeights {
  Tensor weight_ih = {};  ///< [G*H, I]
  Tensor weight_hh = {};  ///< [G*H, H]
  Tensor bias_ih = {};    ///< [G*H], or undefined
  Tensor bias_hh = {};    ///< [G*H], or undefined
};

struct RecurrentOptions {
  Tensor h0 = {};         ///< [B, H] state before the first step; zeros if undefined
  Tensor c0 = {};         ///< [B, H] cell state of an LSTM before the first step; zeros if undefined
  Tensor lengths = {};    ///< int32 [B], each 0…T; all T if undefined. The output is zero in padding
  bool reverse = false;   ///< process each sequence from its last step to its first
  Tensor projected = {};  ///< [B, T, G*H] added to W_ih x, for input that was already projected; may be undefined
};

struct RecurrentResult {
  Tensor y;  ///< [B, T, H] the state after each step
  Tensor h;  ///< [B, H] the state after the last step of each sequence; h0 if its length is 0
  Tensor c;  ///< [B, H] the cell state of an LSTM after the last step
};

/// x [B, T, I] -> y [B, T, H], h [B, H], and for an LSTM c [B, H]. Each step of a GRU, from the state h, computes
///   r = σ(W_ir x + b_ir + W_hr h + b_hr)
///   z = σ(W_iz x + b_iz + W_hz h + b_hz)
///   n = tanh(W_in x + b_in + r ⊙ (W_hn h + b_hn))
///   h' = (1 - z) ⊙ n + z ⊙ h
/// Each step of an LSTM, from the state h and the cell state c, computes
///   i = σ(W_ii x + b_ii + W_hi h + b_hi)
///   f = σ(W_if x + b_if + W_hf h + b_hf)
///   g = tanh(W_ig x + b_ig + W_hg h + b_hg)
///   o = σ(W_io x + b_io + W_ho h + b_ho)
///   c' = f ⊙ c + i ⊙ g,   h' = o ⊙ tanh(c')
/// Throws Error [op] if the shapes do not fit, or if a length exceeds T. With T = 1, it needs only two matrix products.
RecurrentResult recurrence(const char* op, kernels::Cell cell, const Tensor& x, const RecurrentWeights& weights,
                           const RecurrentOptions& options = {});

}  // namespace attend
