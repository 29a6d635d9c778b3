// The affine layer. It owns its weight with its precision (float32 or int8); models, caches and tied outputs call the
// layer instead of reading the weight.
#pragma once
#include <span>
#include <utility>

#include "attend/nn/init.h"
#include "attend/ops/int8.h"
#include "attend/ops/linear.h"

namespace attend {

/// y = activation(x Wᵀ + b).   [..., in] -> [..., out]
struct Linear {
  Tensor weight;  // [out, in]
  Tensor bias;    // [out], or undefined
  Tensor scales;  // [out] where the weight is int8 (see quantise.h), otherwise undefined

  Linear() = default;
  /// From existing parameters.
  explicit Linear(Tensor w, Tensor b = {}, Tensor s = {})
      : weight(std::move(w)), bias(std::move(b)), scales(std::move(s)) {}
  /// Starts as PyTorch's nn.Linear: uniform in ±1 / √in.
  Linear(std::int64_t in, std::int64_t out, bool with_bias = true, Generator& generator = default_generator());

  bool defined() const { return weight.defined(); }
  std::int64_t in() const { return weight.dim(1); }
  std::int64_t out() const { return weight.dim(0); }

  Tensor operator()(const Tensor& x, Activation activation = Activation::none) const {
    if (scales.defined()) return linear(x, Int8Matrix{weight, scales}, bias, activation);
    return linear(x, weight, bias, activation);
  }

  void visit(auto&& v) { v("weight", weight), v("bias", bias), v("weight_scale", scales); }
};

/// Several layers with one input, their outputs side by side.   [..., in] -> [..., out_0 + out_1 + …]
/// One product where the layers lie together in memory (see place_together), otherwise one for each. Either all layers
/// have a bias or none has, and all have one precision.
Tensor linear_together(const Tensor& x, std::span<const Linear* const> layers);

/// Moves the parameters of layers with one input next to each other in memory, so that linear_together is one product.
void place_together(std::span<Linear* const> layers);

}  // namespace attend
