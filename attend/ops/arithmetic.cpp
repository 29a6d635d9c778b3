#include "attend/ops/arithmetic.h"

#include "attend/kernels/broadcast.h"
#include "attend/kernels/elementwise.h"
#include "attend/ops/broadcasting.h"
#include "attend/ops/check.h"
#include "attend/ops/tape.h"

namespace attend {
namespace {

using kernels::Binary;

Tensor apply(const char* op, Binary f, const Tensor& a, const Tensor& b) {
  check_float(op, "a", a);
  check_float(op, "b", b);
  Tensor y = Tensor::empty(broadcast_shape(op, a.shape(), b.shape()));
  kernels::binary(f, broadcast_over(y.shape(), a.shape(), b.shape()), a.data(), b.data(), y.data());
  return y;
}

/// Adds scale · g to the gradient of input i, summed over the dimensions in which the input was broadcast.
void add_reduced(Grads& grads, std::size_t i, const Tensor& g, const Shape& full, const Shape& shape,
                 float scale = 1.f) {
  if (!grads.wants(i)) return;
  const auto [target, accumulate] = grads.target(i);
  sum_to_shape(g.data(), full, shape, target.data(), {scale, accumulate});
}

/// Adds scale · f(p, q) to the gradient of input i, summed in the same way. Without broadcasting, no temporary is used.
void add_product(Grads& grads, std::size_t i, Binary f, const Tensor& p, const Tensor& q, const Shape& q_shape,
                 const Shape& full, const Shape& shape, float scale = 1.f) {
  if (!grads.wants(i)) return;
  const auto [target, accumulate] = grads.target(i);
  const kernels::Broadcast meet = broadcast_over(full, full, q_shape);
  if (shape.numel() == full.numel())
    return kernels::binary(f, meet, p.data(), q.data(), target.data(), {scale, accumulate});
  const Tensor product = Tensor::empty(full);
  kernels::binary(f, meet, p.data(), q.data(), product.data());
  sum_to_shape(product.data(), full, shape, target.data(), {scale, accumulate});
}

/// a + sign · b: the gradients are dy and sign · dy.
Tensor add_or_sub(const char* op, Binary f, const Tensor& a, const Tensor& b, float sign) {
  Tensor y = apply(op, f, a, b);
  return record(op, y, {a, b},
                [full = y.shape(), shape_a = a.shape(), shape_b = b.shape(), sign](const Tensor& dy, Grads& grads) {
                  add_reduced(grads, 1, dy, full, shape_b, sign);
                  // dy is not read after this, so input 0 can keep it without a copy.
                  if (shape_a.numel() == full.numel())
                    grads.add(0, dy);
                  else
                    add_reduced(grads, 0, dy, full, shape_a);
                });
}

/// y = f(x) with the gradient dx = scale · g(dy, kept), where kept is y if keep_result, otherwise x.
Tensor apply_unary(const char* op, kernels::Unary f, const Tensor& x, Binary g, bool keep_result, float scale) {
  check_float(op, "x", x);
  Tensor y = Tensor::like(x);
  kernels::unary(f, x.numel(), x.data(), y.data());
  return record(op, y, {x}, [kept = keep_result ? y : x.detach(), g, scale](const Tensor& dy, Grads& grads) {
    const auto [dx, accumulate] = grads.target(0);
    kernels::binary(g, kernels::Broadcast::same(dy.numel()), dy.data(), kept.data(), dx.data(), {scale, accumulate});
  });
}

}  // namespace

Tensor add(const Tensor& a, const Tensor& b) { return add_or_sub("add", Binary::add, a, b, 1.f); }

Tensor sub(const Tensor& a, const Tensor& b) { return add_or_sub("sub", Binary::sub, a, b, -1.f); }

Tensor mul(const Tensor& a, const Tensor& b) {
  Tensor y = apply("mul", Binary::mul, a, b);
  return record("mul", y, {a, b}, [full = y.shape(), a = a.detach(), b = b.detach()](const Tensor& dy, Grads& grads) {
    add_product(grads, 0, Binary::mul, dy, b, b.shape(), full, a.shape());
    add_product(grads, 1, Binary::mul, dy, a, a.shape(), full, b.shape());
  });
}

Tensor div(const Tensor& a, const Tensor& b) {
  Tensor y = apply("div", Binary::div, a, b);
  return record("div", y, {a, b},
                [y = y.detach(), shape_a = a.shape(), b = b.detach()](const Tensor& dy, Grads& grads) {
                  const Shape& full = y.shape();
                  if (!grads.wants(1)) return add_product(grads, 0, Binary::div, dy, b, b.shape(), full, shape_a);
                  const Tensor da = Tensor::empty(full);  // dy / b; and db = -a / b² · dy = -y · da
                  kernels::binary(Binary::div, broadcast_over(full, full, b.shape()), dy.data(), b.data(), da.data());
                  add_reduced(grads, 0, da, full, shape_a);
                  add_product(grads, 1, Binary::mul, da, y, full, full, b.shape(), -1.f);
                });
}

Tensor affine(const Tensor& x, float scale, float shift) {
  check_float("affine", "x", x);
  Tensor y = Tensor::like(x);
  kernels::affine(x.numel(), x.data(), scale, shift, y.data());
  return record("affine", y, {x}, [scale](const Tensor& dy, Grads& grads) {
    const auto [dx, accumulate] = grads.target(0);
    kernels::affine(dy.numel(), dy.data(), scale, 0.f, dx.data(), accumulate);
  });
}

Tensor negate(const Tensor& x) { return affine(x, -1.f, 0.f); }
Tensor exp(const Tensor& x) { return apply_unary("exp", kernels::Unary::exp, x, Binary::mul, true, 1.f); }
Tensor log(const Tensor& x) { return apply_unary("log", kernels::Unary::log, x, Binary::div, false, 1.f); }
Tensor sqrt(const Tensor& x) { return apply_unary("sqrt", kernels::Unary::sqrt, x, Binary::div, true, 0.5f); }
Tensor square(const Tensor& x) { return apply_unary("square", kernels::Unary::square, x, Binary::mul, false, 2.f); }

}  // namespace attend
