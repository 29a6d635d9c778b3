#include "attend/ops/norm.h"

#include <array>

#include "attend/kernels/norm.h"
#include "attend/ops/check.h"
#include "attend/ops/tape.h"

namespace attend {
namespace {

/// Layer normalisation if centred, otherwise RMS normalisation.
struct Kind {
  const char* op;
  bool centred;
};

void check(const char* op, const Tensor& x, const Tensor& gain, const Tensor& bias) {
  check_float(op, "x", x);
  check_float(op, "gain", gain);
  if (bias) check_float(op, "bias", bias);
  if (x.rank() == 0) fail(op, "wrong shape: got a scalar, expected [..., D]");
  const Shape row{x.dim(-1)};
  if (gain.shape() != row)
    fail(op, "the gain must have the size of the last dimension: got x ", x.shape(), " and gain ", gain.shape(),
         ", expected ", row);
  if (bias && bias.shape() != row)
    fail(op, "the bias must have the size of the last dimension: got x ", x.shape(), " and bias ", bias.shape(),
         ", expected ", row);
}

/// The mean and the inverse standard deviation of each row, for the backward pass.
struct RowMoments {
  Tensor mean, inverse_deviation;  // undefined: not needed
  RowMoments(bool kept, bool centred, std::int64_t rows) {
    if (kept && centred) mean = Tensor::empty({rows});
    if (kept) inverse_deviation = Tensor::empty({rows});
  }
};

/// Computes the gradients of gain (input `first`) and bias (input `first` + 1), and dx = norm'(dy) + dsum. dsum may be
/// null, or equal to dx.
void backward_rows(bool centred, const Tensor& x, const Tensor& gain, const RowMoments& moments, const Tensor& dy,
                   const float* dsum, float* dx, Grads& grads, std::size_t first) {
  kernels::NormGradient p{.centred = centred,
                          .x = x.data(),
                          .gain = gain.data(),
                          .mean = data_or_null(moments.mean),
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
  kernels::norm_backward(x.rows(), x.dim(-1), p);
}

Tensor norm(const Kind& kind, const Tensor& x, const Tensor& gain, const Tensor& bias, float eps) {
  check(kind.op, x, gain, bias);
  const RowMoments moments(needs_grad({&x, &gain, &bias}), kind.centred, x.rows());
  Tensor y = Tensor::like(x);
  kernels::norm(x.rows(), x.dim(-1),
                {.centred = kind.centred,
                 .x = x.data(),
                 .gain = gain.data(),
                 .bias = data_or_null(bias),
                 .eps = eps,
                 .y = y.data(),
                 .mean = data_or_null(moments.mean),
                 .inverse_deviation = data_or_null(moments.inverse_deviation)});
  return record(kind.op, y, {x, gain, bias},
                [x = x.detach(), gain = gain.detach(), moments, kind](const Tensor& dy, Grads& grads) {
                  float *dx = nullptr, *dsum = nullptr;
                  if (grads.wants(0)) {
                    const auto [target, accumulate] = grads.target(0);
                    dx = target.data(), dsum = accumulate ? dx : nullptr;
                  }
                  backward_rows(kind.centred, x, gain, moments, dy, dsum, dx, grads, 1);
                });
}

AddNorm add_norm(const Kind& kind, const Tensor& x, const Tensor& residual, const Tensor& gain, const Tensor& bias,
                 float eps) {
  check(kind.op, x, gain, bias);
  check_float(kind.op, "residual", residual);
  if (x.shape() != residual.shape())
    fail(kind.op, "x and the residual must have the same shape: got ", x.shape(), " and ", residual.shape());
  const RowMoments moments(needs_grad({&x, &residual, &gain, &bias}), kind.centred, x.rows());
  std::array<Tensor, 2> results = {Tensor::like(x), Tensor::like(x)};
  auto& [sum, normed] = results;
  kernels::norm(x.rows(), x.dim(-1),
                {.centred = kind.centred,
                 .x = x.data(),
                 .residual = residual.data(),
                 .gain = gain.data(),
                 .bias = data_or_null(bias),
                 .eps = eps,
                 .sum = sum.data(),
                 .y = normed.data(),
                 .mean = data_or_null(moments.mean),
                 .inverse_deviation = data_or_null(moments.inverse_deviation)});
  record(kind.op, results, {x, residual, gain, bias},
         [sum = sum.detach(), gain = gain.detach(), moments, kind](std::span<const Tensor> dys, Grads& grads) {
           // x and the residual have the same gradient, so it is computed once.
           const Tensor &dsum = dys[0], &dnormed = dys[1];
           const bool wanted = grads.wants(0) || grads.wants(1);
           const Tensor both = wanted && dnormed ? Tensor::like(sum) : dsum;
           if (dnormed)
             backward_rows(kind.centred, sum, gain, moments, dnormed, data_or_null(dsum),
                           wanted ? both.data() : nullptr, grads, 2);
           if (grads.wants(0)) grads.add(0, both);
           if (grads.wants(1)) grads.add(1, both);
         });
  return {sum, normed};
}

}  // namespace

Tensor layer_norm(const Tensor& x, const Tensor& gain, const Tensor& bias, float eps) {
  return norm({"layer_norm", true}, x, gain, bias, eps);
}
Tensor rms_norm(const Tensor& x, const Tensor& gain, float eps) { return norm({"rms_norm", false}, x, gain, {}, eps); }

AddNorm add_layer_norm(const Tensor& x, const Tensor& residual, const Tensor& gain, const Tensor& bias, float eps) {
  return add_norm({"add_layer_norm", true}, x, residual, gain, bias, eps);
}
AddNorm add_rms_norm(const Tensor& x, const Tensor& residual, const Tensor& gain, float eps) {
  return add_norm({"add_rms_norm", false}, x, residual, gain, {}, eps);
}

}  // namespace attend
