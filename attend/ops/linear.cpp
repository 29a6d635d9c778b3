#include "attend/ops/linear.h"

#include "attend/kernels/matmul.h"
#include "attend/ops/check.h"
#include "attend/ops/tape.h"

namespace attend {
namespace {

void check(const Tensor& x, const Tensor& weight, const Tensor& bias) {
  check_float("linear", "x", x);
  check_float("linear", "weight", weight);
  if (bias.defined()) check_float("linear", "bias", bias);
  if (weight.rank() != 2) fail("linear", "the weight is a matrix: got ", weight.shape(), ", expected [N, K]");
  if (x.rank() < 1 || x.dim(-1) != weight.dim(1))
    fail("linear", "the input's last dimension does not fit the weight: got x ", x.shape(), " and weight ",
         weight.shape(), ", expected x [..., ", weight.dim(1), "]");
  if (bias.defined() && bias.shape() != Shape{weight.dim(0)})
    fail("linear", "the bias does not fit the weight: got bias ", bias.shape(), " and weight ", weight.shape(),
         ", expected bias [", weight.dim(0), "]");
}

/// So few may be one step of a loop, and its weight's gradient is better left to be multiplied with the other steps'.
constexpr std::int64_t kFewRows = 512;

}  // namespace

Tensor linear(const Tensor& x, const Tensor& weight, const Tensor& bias, Activation activation) {
  check(x, weight, bias);
  const std::int64_t rows = x.rows(), in = weight.dim(1), out = weight.dim(0);
  const float* bias_data = bias.defined() ? bias.data() : nullptr;
  Tensor y = Tensor::empty(x.shape().with(-1, out));
  kernels::matmul({.m = rows, .n = out, .k = in, .transpose_b = true}, x.data(), weight.data(), y.data(),
                  activation == Activation::none ? bias_data : nullptr);

  Tensor saved;  // what the activation's derivative is taken from
  if (activation != Activation::none) {
    const bool keep = needs_grad({&x, &weight, &bias});
    if (keep) saved = kernels::derivative_from_output(activation) ? y : Tensor::like(y);
    float* pre = saved.defined() && !saved.shares_memory_with(y) ? saved.data() : nullptr;
    kernels::bias_activation(rows, out, y.data(), bias_data, activation, pre, y.data());
  }

  return record(
      "linear", y, {x, weight, bias}, [=, x = x.detach(), weight = weight.detach()](const Tensor& dy, Grads& grads) {
        Tensor dpre = dy;
        if (activation != Activation::none || grads.wants(2)) {
          kernels::ActivationGradient gradient;
          if (activation != Activation::none) {
            dpre = Tensor::like(dy);
            gradient.dx = dpre.data();
          }
          if (grads.wants(2)) {
            const Grads::Target dbias = grads.target(2);
            gradient.dbias = dbias.tensor.data(), gradient.add_to_dbias = dbias.accumulate;
          }
          kernels::bias_activation_backward(rows, out, dy.data(), saved.defined() ? saved.data() : nullptr, activation,
                                            gradient);
        }
        if (grads.wants(0)) {
          const Grads::Target dx = grads.target(0);
          kernels::matmul({.m = rows, .n = in, .k = out, .accumulate = dx.accumulate}, dpre.data(), weight.data(),
                          dx.tensor.data());
        }
        if (grads.wants(1) && rows < kFewRows) {
          grads.product(1, dpre, x);
        } else if (grads.wants(1)) {
          const Grads::Target dweight = grads.target(1);
          kernels::matmul({.m = out, .n = in, .k = rows, .transpose_a = true, .accumulate = dweight.accumulate},
                          dpre.data(), x.data(), dweight.tensor.data());
        }
      });
}

}  // namespace attend
