#include "attend/ops/convolution.h"

#include <algorithm>
#include <limits>

#include "attend/kernels/convolution.h"
#include "attend/ops/check.h"
#include "attend/ops/tape.h"

namespace attend {
namespace {

void check(const char* op, const Tensor& x, const Tensor& weight, const Tensor& bias,
           const kernels::ConvolutionShape& s) {
  check_float(op, "x", x);
  check_float(op, "weight", weight);
  if (bias.defined()) check_float(op, "bias", bias);
  constexpr std::int64_t kMost = std::numeric_limits<std::int32_t>::max();
  if (std::min({s.stride_h, s.stride_w, s.dilation_h, s.dilation_w, s.groups}) < 1 ||
      std::min(s.padding_h, s.padding_w) < 0)
    fail(op, "stride, dilation and groups must be at least 1, and padding at least 0");
  if (std::max({s.stride_h, s.stride_w, s.dilation_h, s.dilation_w, s.padding_h, s.padding_w}) > kMost)
    fail(op, "stride, dilation and padding are at most ", kMost);
  if (s.in % s.groups != 0 || s.out % s.groups != 0 || weight.dim(1) != s.in / s.groups)
    fail(op, "the channels do not fit: got x ", x.shape(), " and weight ", weight.shape(), " in ", s.groups,
         " groups, expected weight [O, ", s.in, " / groups, ...]");
  if (bias.defined() && bias.shape() != Shape{s.out})
    fail(op, "the bias does not fit: got ", bias.shape(), ", expected [", s.out, "]");
  if (std::min({s.in, s.out, s.in_h, s.in_w, s.kernel_h, s.kernel_w}) == 0)
    fail(op, "a size is zero: got x ", x.shape(), " and weight ", weight.shape());
  if (s.dilation_h * (s.kernel_h - 1) + 1 > s.in_h + 2 * s.padding_h ||
      s.dilation_w * (s.kernel_w - 1) + 1 > s.in_w + 2 * s.padding_w)
    fail(op, "the kernel is larger than the padded input: got x ", x.shape(), " and weight ", weight.shape());
}

Tensor convolve(const char* op, const Tensor& x, const Tensor& weight, const Tensor& bias,
                const kernels::ConvolutionShape& s, const Shape& result) {
  Tensor y = Tensor::empty(result);
  const bool empty = s.batch == 0;
  if (!empty) kernels::convolution(s, x.data(), weight.data(), bias.defined() ? bias.data() : nullptr, y.data());
  return record(op, y, {x, weight, bias},
                [s, empty, x = x.detach(), weight = weight.detach()](const Tensor& dy, Grads& grads) {
                  if (grads.wants(0)) {
                    Tensor dx = Tensor::like(x);
                    if (!empty) kernels::convolution_backward_input(s, dy.data(), weight.data(), dx.data());
                    grads.add(0, dx);
                  }
                  if (!grads.wants(1) && !grads.wants(2)) return;
                  Tensor dweight = Tensor::zeros(weight.shape()), dbias;
                  if (grads.wants(2)) dbias = Tensor::zeros({s.out});
                  if (!empty)
                    kernels::convolution_backward_weight(s, x.data(), dy.data(), dweight.data(),
                                                         dbias.defined() ? dbias.data() : nullptr);
                  grads.add(1, dweight);
                  if (dbias.defined()) grads.add(2, dbias);
                });
}

}  // namespace

Tensor conv1d(const Tensor& x, const Tensor& weight, const Tensor& bias, const Convolution1dOptions& options) {
  if (x.rank() != 3 || weight.rank() != 3)
    fail("conv1d", "wrong shapes: got x ", x.shape(), " and weight ", weight.shape(),
         ", expected [B, C, T] and [O, C / groups, K]");
  const kernels::ConvolutionShape s{.batch = x.dim(0),
                                    .in = x.dim(1),
                                    .out = weight.dim(0),
                                    .in_w = x.dim(2),
                                    .kernel_w = weight.dim(2),
                                    .stride_w = options.stride,
                                    .padding_w = options.padding,
                                    .dilation_w = options.dilation,
                                    .groups = options.groups};
  check("conv1d", x, weight, bias, s);
  return convolve("conv1d", x, weight, bias, s, {s.batch, s.out, s.out_w()});
}

Tensor conv2d(const Tensor& x, const Tensor& weight, const Tensor& bias, const Convolution2dOptions& options) {
  if (x.rank() != 4 || weight.rank() != 4)
    fail("conv2d", "wrong shapes: got x ", x.shape(), " and weight ", weight.shape(),
         ", expected [B, C, H, W] and [O, C / groups, KH, KW]");
  const kernels::ConvolutionShape s{.batch = x.dim(0),
                                    .in = x.dim(1),
                                    .out = weight.dim(0),
                                    .in_h = x.dim(2),
                                    .in_w = x.dim(3),
                                    .kernel_h = weight.dim(2),
                                    .kernel_w = weight.dim(3),
                                    .stride_h = options.stride[0],
                                    .stride_w = options.stride[1],
                                    .padding_h = options.padding[0],
                                    .padding_w = options.padding[1],
                                    .dilation_h = options.dilation[0],
                                    .dilation_w = options.dilation[1],
                                    .groups = options.groups};
  check("conv2d", x, weight, bias, s);
  return convolve("conv2d", x, weight, bias, s, {s.batch, s.out, s.out_h(), s.out_w()});
}

}  // namespace attend
