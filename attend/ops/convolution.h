// Convolutions with the conventions of PyTorch: cross-correlation, with channels before the spatial dimensions.
#pragma once
#include <array>

#include "attend/core/tensor.h"

namespace attend {

struct Convolution1dOptions {
  std::int64_t stride = 1;
  std::int64_t padding = 0;  ///< number of zeros on each side
  std::int64_t dilation = 1;
  std::int64_t groups = 1;  ///< divides the numbers of input and output channels
};

struct Convolution2dOptions {
  std::array<std::int64_t, 2> stride = {1, 1};  ///< height, width
  std::array<std::int64_t, 2> padding = {0, 0};
  std::array<std::int64_t, 2> dilation = {1, 1};
  std::int64_t groups = 1;
};

/// y[b, o, t] = bias[o] + Σ_{c, k} x[b, c, t·stride + k·dilation - padding] weight[o, c, k].
/// x [B, C, T], weight [O, C / groups, K], bias [O] or undefined -> [B, O, T']. Throws if a size other than B
/// is 0.
Tensor conv1d(const Tensor& x, const Tensor& weight, const Tensor& bias = {}, const Convolution1dOptions& options = {});

/// Two-dimensional convolution.   x [B, C, H, W], weight [O, C / groups, KH, KW] -> [B, O, H', W']
Tensor conv2d(const Tensor& x, const Tensor& weight, const Tensor& bias = {}, const Convolution2dOptions& options = {});

}  // namespace attend
