// Activation functions. After a matrix product, use the activation of linear() instead, which needs no extra pass over
// memory.
#pragma once
#include "attend/core/tensor.h"
#include "attend/kernels/activation.h"

namespace attend {

/// Applies an activation element by element.   x [...] -> [...]
Tensor activate(const Tensor& x, Activation activation);

inline Tensor relu(const Tensor& x) { return activate(x, Activation::relu); }  ///< max(0, x)
inline Tensor gelu(const Tensor& x) { return activate(x, Activation::gelu); }  ///< x Φ(x)
inline Tensor gelu_tanh(const Tensor& x) {
  return activate(x, Activation::gelu_tanh);
}  ///< the tanh approximation of gelu, as in GPT-2
inline Tensor silu(const Tensor& x) { return activate(x, Activation::silu); }  ///< x sigmoid(x)
inline Tensor tanh(const Tensor& x) { return activate(x, Activation::tanh); }
inline Tensor sigmoid(const Tensor& x) { return activate(x, Activation::sigmoid); }  ///< 1 / (1 + e^-x)

}  // namespace attend
