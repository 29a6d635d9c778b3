// Vectors for ids.
#pragma once
#include "attend/nn/init.h"
#include "attend/ops/embedding.h"
#include "attend/ops/int8.h"

namespace attend {

/// scale · the row of each id.   int32 [...] -> [..., width]
struct Embedding {
  Tensor weight;              // [ids, width]
  std::int32_t padding = -1;  // the row of this id gets no gradient; -1: every row does
  float scale = 1.f;          // the Transformer has √width here
  Tensor scales;              // [ids] where the weight is one of int8 (see quantise.h), otherwise undefined

  Embedding() = default;
  /// Starts normal, with PyTorch's deviation unless told.
  Embedding(std::int64_t ids, std::int64_t width, Generator& generator = default_generator(), float deviation = 1.f)
      : weight(Tensor::empty({ids, width})) {
    init::normal(weight, deviation, generator);
  }

  Tensor operator()(const Tensor& ids) const {
    if (scales.defined()) return embedding(Int8Matrix{weight, scales}, ids, scale);
    return embedding(weight, ids, {.padding = padding, .scale = scale});
  }
  void visit(auto&& v) { v("weight", weight), v("weight_scale", scales); }
};

}  // namespace attend
