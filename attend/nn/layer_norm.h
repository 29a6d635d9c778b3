// Layer normalisation as a layer.
#pragma once
#include "attend/nn/norm.h"

namespace attend {

<<<<<<< HEAD
/// (x - mean) / √(var + eps) · gain + bias over the last dimension.   [..., D] -> [..., D]
struct LayerNorm {
  Tensor gain;  // [D], named "weight" as everywhere
  Tensor bias;  // [D], or undefined
  float eps = 1e-5f;

  LayerNorm() = default;
  explicit LayerNorm(std::int64_t width, float epsilon = 1e-5f, bool with_bias = true)
      : gain(Tensor::full({width}, 1.f)), bias(with_bias ? Tensor::zeros({width}) : Tensor()), eps(epsilon) {}

  bool defined() const { return gain.defined(); }

  Tensor operator()(const Tensor& x) const { return layer_norm(x, gain, bias, eps); }
  /// The norm of x + residual, and the sum itself, in one pass.
  AddNorm operator()(const Tensor& x, const Tensor& residual) const {
    return add_layer_norm(x, residual, gain, bias, eps);
  }
  void visit(auto&& v) { v("weight", gain), v("bias", bias); }
=======
struct LayerNorm : Norm {
  LayerNorm() = default;
  explicit LayerNorm(std::int64_t width, float epsilon = 1e-5f, bool with_bias = true)
      : Norm(width, {.eps = epsilon, .bias = with_bias}) {}
>>>>>>> parts
};

}  // namespace attend
