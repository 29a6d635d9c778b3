#include "attend/ops/int8.h"

#include <algorithm>
#include <cmath>

#include "attend/kernels/int8.h"
#include "attend/kernels/matmul.h"
#include "attend/ops/activation.h"
#include "attend/ops/check.h"
#include "attend/ops/concat.h"
#include "attend/ops/tape.h"

namespace attend {
namespace {

void check(const char* op, const Int8Matrix& matrix) {
  check_dtype(op, "the matrix", matrix.values, DType::i8);
  check_float(op, "its scales", matrix.scales);
  if (matrix.values.rank() != 2 || matrix.scales.shape() != Shape{matrix.values.dim(0)})
    fail(op, "the matrix needs one scale for each row: got values ", matrix.values.shape(), " and scales ",
         matrix.scales.shape(), ", expected [N, K] and [N]");
}

/// Records y = x Wᵀ, for the gradient of x: that of the product with the restored weight. `weight` is the first of the
/// matrices, which are contiguous in memory, and whose rows are the columns of y.
Tensor recorded(Tensor y, const Tensor& x, const Int8Matrix& weight, std::span<const Tensor> biases) {
  for (const Tensor& bias : biases)
    if (needs_grad({&bias})) fail("linear", "the bias of an int8 layer has no gradient: it cannot be trained");
  return record("linear", std::move(y), {x}, [weight](const Tensor& dy, Grads& grads) {
    const std::int64_t rows = dy.rows(), out = dy.dim(-1), in = weight.values.dim(1);
    Grads::Target dx = grads.target(0);
    constexpr std::int64_t kRestored = 1024;  // rows that are restored at a time
    const Tensor part = Tensor::empty({std::min(out, kRestored), in});
    for (std::int64_t begin = 0; begin < out; begin += kRestored) {
      const std::int64_t count = std::min(out - begin, kRestored);
      kernels::restore_rows(count, in, weight.values.data<std::int8_t>() + begin * in, weight.scales.data() + begin,
                            part.data());
      kernels::matmul({.m = rows, .n = in, .k = count, .accumulate = dx.accumulate, .a_stride = out}, dy.data() + begin,
                      part.data(), dx.tensor.data());
      dx.accumulate = true;
    }
  });
}

}  // namespace

Int8Matrix quantise(const Tensor& weight) {
  check_float("quantise", "the weight", weight);
  if (weight.rank() != 2) fail("quantise", "wrong shape of the weight: got ", weight.shape(), ", expected [N, K]");
  if (!std::ranges::all_of(weight.span(), [](float w) { return std::isfinite(w); }))
    fail<InputError>("quantise", "the weight ", weight.shape(), " contains infinity or NaN");
  Int8Matrix matrix{Tensor::empty(weight.shape(), DType::i8), Tensor::empty({weight.dim(0)})};
  kernels::quantise_rows(weight.dim(0), weight.dim(1), weight.data(), matrix.values.data<std::int8_t>(),
                         matrix.scales.data());
  return matrix;
}

Tensor restore(const Int8Matrix& matrix) {
  check("restore", matrix);
  Tensor weight = Tensor::empty(matrix.values.shape());
  kernels::restore_rows(weight.dim(0), weight.dim(1), matrix.values.data<std::int8_t>(), matrix.scales.data(),
                        weight.data());
  return weight;
}

Tensor linear(const Tensor& x, const Int8Matrix& weight, const Tensor& bias, Activation activation) {
  check("linear", weight);
  check_float("linear", "x", x);
  const std::int64_t out = weight.values.dim(0), in = weight.values.dim(1);
  if (x.rank() < 1 || x.dim(-1) != in)
    fail("linear", "the input's last dimension does not fit the weight: got x ", x.shape(), " and weight ",
         weight.values.shape(), ", expected x [..., ", in, "]");
  if (bias.defined() && bias.shape() != Shape{out})
    fail("linear", "the bias does not fit the weight: got bias ", bias.shape(), ", expected [", out, "]");
  if (activation != Activation::none && needs_grad({&x})) return activate(linear(x, weight, bias), activation);
  const float* bias_data = bias.defined() ? bias.data() : nullptr;
  Tensor y = Tensor::empty(x.shape().with(-1, out));
  const bool plain = activation == Activation::none;
  kernels::matmul({.m = x.rows(), .n = out, .k = in}, x.data(), weight.values.data<std::int8_t>(), weight.scales.data(),
                  y.data(), plain ? bias_data : nullptr);
  if (!plain) kernels::bias_activation(x.rows(), out, y.data(), bias_data, activation, nullptr, y.data());
  return recorded(std::move(y), x, weight, {&bias, 1});
}

Tensor linear_together(const Tensor& x, std::span<const Int8Matrix> weights, std::span<const Tensor> biases) {
  if (weights.empty() || (!biases.empty() && biases.size() != weights.size()))
    fail("linear", "either all weights have a bias or none: got ", weights.size(), " weights and ", biases.size(),
         " biases");
  bool together = true;
  std::int64_t out = 0;
  for (std::size_t i = 0; i < weights.size(); ++i) {
    check("linear", weights[i]);
    out += weights[i].values.dim(0);
    if (i == 0) continue;
    const auto follows = [](const Tensor& part, const Tensor& before) {
      return part.raw() == before.raw() + before.bytes();
    };
    together &= follows(weights[i].values, weights[i - 1].values) &&
                follows(weights[i].scales, weights[i - 1].scales) &&
                (biases.empty() || follows(biases[i], biases[i - 1]));
  }
  if (!together) {
    std::vector<Tensor> parts;
    for (std::size_t i = 0; i < weights.size(); ++i)
      parts.push_back(linear(x, weights[i], biases.empty() ? Tensor() : biases[i]));
    return concat(parts, -1);
  }
  check_float("linear", "x", x);
  const std::int64_t in = weights.front().values.dim(1);
  if (x.rank() < 1 || x.dim(-1) != in)
    fail("linear", "the input's last dimension does not fit the weight: got x ", x.shape(), ", expected [..., ", in,
         "]");
  Tensor y = Tensor::empty(x.shape().with(-1, out));
  kernels::matmul({.m = x.rows(), .n = out, .k = in}, x.data(), weights.front().values.data<std::int8_t>(),
                  weights.front().scales.data(), y.data(), biases.empty() ? nullptr : biases.front().data());
  return recorded(std::move(y), x, weights.front(), biases);
}

Tensor embedding(const Int8Matrix& table, const Tensor& ids, float scale) {
  check("embedding", table);
  check_ids("embedding", ids, table.values.dim(0), kUnknownId);
  const std::int64_t width = table.values.dim(1);
  Tensor y = Tensor::empty(ids.shape().inserted(ids.rank(), width));
  for (std::int64_t i = 0; i < ids.numel(); ++i) {
    const std::int32_t id = ids.data<std::int32_t>()[i];
    const float row_scale = scale * table.scales.data()[id];
    kernels::restore_rows(1, width, table.values.data<std::int8_t>() + id * width, &row_scale, y.data() + i * width);
  }
  return y;
}

}  // namespace attend
