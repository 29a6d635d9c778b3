// Convolution layers.
#pragma once
#include "attend/nn/init.h"
#include "attend/ops/convolution.h"

namespace attend {

/// [B, in, T] -> [B, out, T'].  Starts as PyTorch's nn.Conv1d.
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

/// [B, in, H, W] -> [B, out, H', W'].  Starts as PyTorch's nn.Conv2d.
struct Conv2d {
  Tensor weight;  // [out, in / groups, kernel_h, kernel_w]
  Tensor bias;    // [out]
  Convolution2dOptions options;

  Conv2d() = default;
  Conv2d(std::int64_t in, std::int64_t out, std::array<std::int64_t, 2> kernel,
         const Convolution2dOptions& options = {}, Generator& generator = default_generator());

  Tensor operator()(const Tensor& x) const { return conv2d(x, weight, bias, options); }
  void visit(auto&& v) { v("weight", weight), v("bias", bias); }
};

}  // namespace attend
