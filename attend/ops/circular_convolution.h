// Circular convolution: shifts the attention weights of a Neural Turing Machine (Graves et al. 2014, eq. 8).
#pragma once
#include "attend/core/tensor.h"

namespace attend {

/// y[b, i] = Σ_o s[b, o + K/2] w[b, (i - o) mod N], o from -K/2 to K/2.   w [B, N], s [B, K] -> [B, N]
/// The middle element of s keeps the weights in place; later elements shift them forward. Throws unless K is odd and at
/// most N.
Tensor circular_convolution(const Tensor& w, const Tensor& s);

}  // namespace attend
