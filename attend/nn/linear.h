// The affine layer.
#pragma once
#include <utility>

#include "attend/nn/init.h"
#include "attend/ops/int8.h"
#include "attend/ops/linear.h"

namespace attend {

/// y = activation(x Wᵀ + b).   [..., in] -> [..., out]
struct Linear {
  Tensor weight;  // [out, in]
  Tensor bias;    // [out], or undefined
  Tensor scales;  // [out] where the weight is one of int8 (see quantise.h), otherwise undefined

  Linear() = default;
  /// Of parameters that are there.
  explicit Linear(Tensor w, Tensor b = {}, Tensor s = {})
      : weight(std::move(w)), bias(std::move(b)), scales(std::move(s)) {}
  /// Starts as PyTorch's nn.Linear: uniform in ±1 / √in.
  Linear(std::int64_t in, std::int64_t out, bool with_bias = true, Generator& generator = default_generator());

  Tensor operator()(const Tensor& x, Activation activation = Activation::none) const {
    if (scales.defined()) return linear(x, Int8Matrix{weight, scales}, bias, activation);
    return linear(x, weight, bias, activation);
  }
  /// What gives the outputs [begin, end) alone: views of the parameters, which the tape does not know.
  Linear view_rows(std::int64_t begin, std::int64_t end) const;

  void visit(auto&& v) { v("weight", weight), v("bias", bias), v("weight_scale", scales); }
};

}  // namespace attend
