// Vectors for ids.
#pragma once
#include "attend/nn/init.h"
#include "attend/ops/embedding.h"

namespace attend {

/// One row for each id.   int32 [...] -> [..., width]
struct Embedding {
  Tensor weight;  // [ids, width]

  Embedding() = default;
  /// Starts as PyTorch's nn.Embedding: normal with deviation 1.
  Embedding(std::int64_t ids, std::int64_t width, Generator& generator = default_generator())
      : weight(Tensor::empty({ids, width})) {
    init::normal(weight, 1.f, generator);
  }

  Tensor operator()(const Tensor& ids) const { return embedding(weight, ids); }
  void visit(auto&& v) { v("weight", weight); }
};

}  // namespace attend
