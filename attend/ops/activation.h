// The activations on their own. After a matrix product, let linear() do it: there it costs no pass over memory.
#pragma once
#include "attend/core/tensor.h"
#include "attend/kernels/activation.h"

namespace attend {

/// Element by element.   x [...] -> [...]
Tensor activate(const Tensor& x, Activation activation);

inline Tensor relu(const Tensor& x) { return activate(x, Activation::relu); }            ///< max(0, x)
inline Tensor gelu(const Tensor& x) { return activate(x, Activation::gelu); }            ///< x Φ(x)
inline Tensor gelu_tanh(const Tensor& x) { return activate(x, Activation::gelu_tanh); }  ///< GPT-2's form of it
inline Tensor silu(const Tensor& x) { return activate(x, Activation::silu); }            ///< x sigmoid(x)
inline Tensor tanh(const Tensor& x) { return activate(x, Activation::tanh); }
inline Tensor sigmoid(const Tensor& x) { return activate(x, Activation::sigmoid); }  ///< 1 / (1 + e^-x)

}  // namespace attend
