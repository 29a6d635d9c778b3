// The convolution layer, with the parameter names and the initialisation of PyTorch.
#pragma once
#include "attend/nn/init.h"
#include "attend/ops/convolution.h"

namespace attend {

/// One-dimensional convolution.   [B, in, T] -> [B, out, T']
struct Conv1d {
  Tensor weight;  // [out, in / groups, kernel]
  Tensor bias;    // [out]
  Convolution1dOptions options;

  Conv1d() = default;
  Conv1d(std::int64_t in, std::int64_t out, std::int64_t kernel, const Convolution1dOptions& options = {},
         Generator& generator = default_generator());

  Tensor operator()(const Tensor& x) const { return conv1d(x, weight, bias, options); }
  void visit(auto&& v) { v("weight", weight), v("bias", bias); }
};

}  // namespace attend
