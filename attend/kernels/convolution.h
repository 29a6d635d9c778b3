// One- and two-dimensional convolution with oneDNN. A one-dimensional convolution has a height of 1.
#pragma once
#include <cstdint>

namespace attend::kernels {

/// x [batch, in, in_h, in_w], weight [out, in / groups, kernel_h, kernel_w], bias [out], y [batch, out, out_h, out_w].
struct ConvolutionShape {
  std::int64_t batch = 0, in = 0, out = 0;
  std::int64_t in_h = 1, in_w = 0, kernel_h = 1, kernel_w = 0;
  std::int64_t stride_h = 1, stride_w = 1, padding_h = 0, padding_w = 0, dilation_h = 1, dilation_w = 1;
  std::int64_t groups = 1;

  std::int64_t out_h() const { return (in_h + 2 * padding_h - dilation_h * (kernel_h - 1) - 1) / stride_h + 1; }
  std::int64_t out_w() const { return (in_w + 2 * padding_w - dilation_w * (kernel_w - 1) - 1) / stride_w + 1; }
};

/// All sizes are positive. `bias` and `dbias` may be null.
void convolution(const ConvolutionShape& shape, const float* x, const float* weight, const float* bias, float* y);
void convolution_backward_input(const ConvolutionShape& shape, const float* dy, const float* weight, float* dx);
void convolution_backward_weight(const ConvolutionShape& shape, const float* x, const float* dy, float* dweight,
                                 float* dbias);

}  // namespace attend::kernels
