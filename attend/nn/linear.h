// The linear layer. It owns its weight, in float32 or int8; models and caches call the layer instead of reading the
// weight.
#pragma once
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "attend/nn/init.h"
#include "attend/ops/int8.h"
#include "attend/ops/linear.h"
#include "attend/ops/low_rank.h"

namespace attend {

/// y = activation(x Wᵀ + b).   [..., in] -> [..., out]
struct Linear {
  Tensor weight;  // [out, in]
  Tensor bias;    // [out], or undefined
  Tensor scales;  // [out] if the weight is int8 (see quantise.h), otherwise undefined
  std::shared_ptr<const LowRank>
      adapter;  // added to x Wᵀ (see models/adapter.h), or null; copies of the layer share it

  Linear() = default;
  /// From existing parameters.
  explicit Linear(Tensor w, Tensor b = {}, Tensor s = {})
      : weight(std::move(w)), bias(std::move(b)), scales(std::move(s)) {}
  /// Initialised as PyTorch's nn.Linear: uniform in ±1 / √in.
  Linear(std::int64_t in, std::int64_t out, bool with_bias = true, Generator& generator = default_generator());

  bool defined() const { return weight.defined(); }
  std::int64_t in() const { return weight.dim(1); }
  std::int64_t out() const { return weight.dim(0); }

  Tensor operator()(const Tensor& x, Activation activation = Activation::none) const {
    if (adapter) return adapted(x, activation);
    if (scales.defined()) return linear(x, Int8Matrix{weight, scales}, bias, activation);
    return linear(x, weight, bias, activation);
  }

  void visit(auto&& v) { v("weight", weight), v("bias", bias), v("weight_scale", scales); }

 private:
  Tensor adapted(const Tensor& x, Activation activation) const;
};

/// The concatenated outputs of several layers with the same input.   [..., in] -> [..., out_0 + out_1 + …]
/// One matrix product if the weights are contiguous in memory (see place_together), otherwise one for each layer.
/// Either all layers have a bias or none has one, and all have the same precision.
Tensor linear_together(const Tensor& x, std::span<const Linear* const> layers);

/// linear_together() for groups of layers with the same input, with a result for each group. The products of few rows
/// share one parallel loop.
std::vector<Tensor> linear_groups(const Tensor& x, std::span<const std::vector<const Linear*>> groups);

/// Makes the parameters of several layers contiguous in memory, so that linear_together is one matrix product.
void place_together(std::span<Linear* const> layers);

}  // namespace attend
