#include "attend/ops/layer_norm.h"

#include <array>

#include "attend/kernels/layer_norm.h"
#include "attend/ops/check.h"
#include "attend/ops/tape.h"

namespace attend {
namespace {

void check(const char* op, const Tensor& x, const Tensor& gain, const Tensor& bias) {
  check_float(op, "x", x);
  check_float(op, "gain", gain);
  check_float(op, "bias", bias);
  if (x.rank() == 0) fail(op, "a row is needed: got a scalar, expected [..., D]");
  const Shape row{x.dim(-1)};
  if (gain.shape() != row || bias.shape() != row)
    fail(op, "gain and bias must have the size of the last dimension: got x ", x.shape(), ", gain ", gain.shape(),
         " and bias ", bias.shape(), ", expected ", row);
}

/// What the way back needs beside the normalised values: one number a row each.
struct RowMoments {
  Tensor mean, inverse_deviation;
  explicit RowMoments(bool kept, std::int64_t rows) {
    if (kept) mean = Tensor::empty({rows}), inverse_deviation = Tensor::empty({rows});
  }
  float* mean_data() const { return mean ? mean.data() : nullptr; }
  float* inverse_deviation_data() const { return inverse_deviation ? inverse_deviation.data() : nullptr; }
};

/// The gradients of gain (input `first`) and bias (the next), and dx = dnormed's way back + dsum (may be null, or dx).
void backward_rows(const Tensor& x, const Tensor& gain, const RowMoments& moments, const Tensor& dy, const float* dsum,
                   float* dx, Grads& grads, std::size_t first) {
  kernels::LayerNormGradient p{.x = x.data(),
                               .gain = gain.data(),
                               .mean = moments.mean.data(),
                               .inverse_deviation = moments.inverse_deviation.data(),
                               .dy = dy.data(),
                               .dsum = dsum,
                               .dx = dx};
  if (grads.wants(first)) {
    const auto [dgain, accumulate] = grads.target(first);
    p.dgain = dgain.data(), p.add_to_dgain = accumulate;
  }
  if (grads.wants(first + 1)) {
    const auto [dbias, accumulate] = grads.target(first + 1);
    p.dbias = dbias.data(), p.add_to_dbias = accumulate;
  }
  kernels::layer_norm_backward(x.rows(), x.dim(-1), p);
}

}  // namespace

Tensor layer_norm(const Tensor& x, const Tensor& gain, const Tensor& bias, float eps) {
  check("layer_norm", x, gain, bias);
  const RowMoments moments(needs_grad({&x, &gain, &bias}), x.rows());
  Tensor y = Tensor::like(x);
  kernels::layer_norm(x.rows(), x.dim(-1),
                      {.x = x.data(),
                       .gain = gain.data(),
                       .bias = bias.data(),
                       .eps = eps,
                       .y = y.data(),
                       .mean = moments.mean_data(),
                       .inverse_deviation = moments.inverse_deviation_data()});
  return record("layer_norm", y, {x, gain, bias},
                [x = x.detach(), gain = gain.detach(), moments](const Tensor& dy, Grads& grads) {
                  if (!grads.wants(0)) return backward_rows(x, gain, moments, dy, nullptr, nullptr, grads, 1);
                  const auto [dx, accumulate] = grads.target(0);
                  backward_rows(x, gain, moments, dy, accumulate ? dx.data() : nullptr, dx.data(), grads, 1);
                });
}

AddNorm add_layer_norm(const Tensor& x, const Tensor& residual, const Tensor& gain, const Tensor& bias, float eps) {
  check("add_layer_norm", x, gain, bias);
  check_float("add_layer_norm", "residual", residual);
  if (x.shape() != residual.shape())
    fail("add_layer_norm", "x and the residual must have one shape: got ", x.shape(), " and ", residual.shape());
  const RowMoments moments(needs_grad({&x, &residual, &gain, &bias}), x.rows());
  std::array<Tensor, 2> results = {Tensor::like(x), Tensor::like(x)};
  auto& [sum, normed] = results;
  kernels::layer_norm(x.rows(), x.dim(-1),
                      {.x = x.data(),
                       .residual = residual.data(),
                       .gain = gain.data(),
                       .bias = bias.data(),
                       .eps = eps,
                       .sum = sum.data(),
                       .y = normed.data(),
                       .mean = moments.mean_data(),
                       .inverse_deviation = moments.inverse_deviation_data()});
  record("add_layer_norm", results, {x, residual, gain, bias},
         [sum = sum.detach(), gain = gain.detach(), moments](std::span<const Tensor> dys, Grads& grads) {
           // x and the residual have the same gradient: made once, given to both.
           const Tensor &dsum = dys[0], &dnormed = dys[1];
           const bool wanted = grads.wants(0) || grads.wants(1);
           const Tensor both = wanted && dnormed ? Tensor::like(sum) : dsum;
           if (dnormed)
             backward_rows(sum, gain, moments, dnormed, dsum ? dsum.data() : nullptr, wanted ? both.data() : nullptr,
                           grads, 2);
           if (grads.wants(0)) grads.add(0, both);
           if (grads.wants(1)) grads.add(1, both);
         });
  return {sum, normed};
}

}  // namespace attend
