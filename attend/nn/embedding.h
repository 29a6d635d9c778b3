// The embedding layer. It owns its table, in float32 or int8, also if an output layer is tied to it.
#pragma once
#include "attend/nn/init.h"
#include "attend/ops/embedding.h"
#include "attend/ops/int8.h"
#include "attend/ops/linear.h"

namespace attend {

/// Looks up the row of each id and multiplies it by `scale`.   int32 [...] -> [..., width]
struct Embedding {
  Tensor weight;              // [ids, width]
  std::int32_t padding = -1;  // the row of this id gets no gradient; -1: all rows get one
  float scale = 1.f;          // √width in the Transformer
  Tensor scales;              // [ids] if the weight is int8 (see quantise.h), otherwise undefined

  Embedding() = default;
  /// Normal initialisation; the default standard deviation is that of PyTorch.
  Embedding(std::int64_t ids, std::int64_t width, Generator& generator = default_generator(), float deviation = 1.f)
      : weight(Tensor::empty({ids, width})) {
    init::normal(weight, deviation, generator);
  }

  bool defined() const { return weight.defined(); }
  std::int64_t size() const { return weight.dim(0); }   ///< number of ids
  std::int64_t width() const { return weight.dim(1); }  ///< features of a vector

  Tensor operator()(const Tensor& ids) const {
    if (scales.defined()) return embedding(Int8Matrix{weight, scales}, ids, scale);
    return embedding(weight, ids, {.padding = padding, .scale = scale});
  }
  /// The output layer with tied weights (Press and Wolf 2017): x Wᵀ + bias, without `scale`.
  ///   [..., width], bias [ids] or undefined -> [..., ids]
  Tensor project(const Tensor& x, const Tensor& bias = {}) const {
    if (scales.defined()) return linear(x, Int8Matrix{weight, scales}, bias);
    return linear(x, weight, bias);
  }
  void visit(auto&& v) { v("weight", weight), v("weight_scale", scales); }
};

}  // namespace attend
