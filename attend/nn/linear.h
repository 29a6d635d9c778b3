// The affine layer.
#pragma once
#include "attend/nn/init.h"
#include "attend/ops/linear.h"

namespace attend {

/// y = activation(x Wᵀ + b).   [..., in] -> [..., out]
struct Linear {
  Tensor weight;  // [out, in]
  Tensor bias;    // [out], or undefined

  Linear() = default;
  /// Starts as PyTorch's nn.Linear: uniform in ±1 / √in.
  Linear(std::int64_t in, std::int64_t out, bool with_bias = true, Generator& generator = default_generator());

  Tensor operator()(const Tensor& x, Activation activation = Activation::none) const {
    return linear(x, weight, bias, activation);
  }
  void visit(auto&& v) { v("weight", weight), v("bias", bias); }
};

}  // namespace attend
