// What gru() and lstm() share: one layer, in one direction, over whole sequences. Use those.
#pragma once
#include "attend/core/tensor.h"
#include "attend/kernels/recurrent.h"

namespace attend {

/// A layer's parameters in PyTorch's layout: the gates' blocks of H rows one after the other, r, z, n for a GRU and
/// i, f, g, o for an LSTM (G = 3 or 4). The biases come together or not at all.
struct RecurrentWeights {
  Tensor weight_ih = {};  ///< [G*H, I]
  Tensor weight_hh = {};  ///< [G*H, H]
  Tensor bias_ih = {};    ///< [G*H], or undefined
  Tensor bias_hh = {};    ///< [G*H], or undefined
};

/// Where a sequence starts and ends.
struct RecurrentOptions {
  Tensor h0 = {};         ///< [B, H] state before the first step; undefined: zeros
  Tensor c0 = {};         ///< [B, H] an LSTM's cells before the first step; undefined: zeros
  Tensor lengths = {};    ///< int32 [B], each 0…T; undefined: all T. Beyond its length a sequence's output is zero
  bool reverse = false;   ///< from each sequence's own last step to its first
  Tensor projected = {};  ///< [B, T, G*H] more of the input, through its own weight already; undefined: nothing
};

struct RecurrentResult {
  Tensor y;  ///< [B, T, H] the state after each step
  Tensor h;  ///< [B, H] the state after each sequence's last step; h0 where there was none
  Tensor c;  ///< [B, H] an LSTM's cells then
};

RecurrentResult recurrence(const char* op, kernels::Cell cell, const Tensor& x, const RecurrentWeights& weights,
                           const RecurrentOptions& options);

}  // namespace attend
