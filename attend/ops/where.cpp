#include "attend/ops/where.h"

#include "attend/kernels/broadcast.h"
#include "attend/ops/broadcasting.h"
#include "attend/ops/check.h"
#include "attend/ops/tape.h"

namespace attend {
namespace {

kernels::Broadcast mask_over(const char* op, const Tensor& mask, const Shape& shape) {
  check_dtype(op, "the mask", mask, DType::i8);
  if (broadcast_shape(op, shape, mask.shape()) != shape)
    fail(op, "the mask does not broadcast to the values: got mask ", mask.shape(), " and values ", shape);
  return broadcast_over(shape, shape, mask.shape());
}

/// The gradient of input i: dy where the mask is nonzero (if `set`) or zero (otherwise), and 0 elsewhere.
void add_chosen(Grads& grads, std::size_t i, const kernels::Broadcast& meet, const Tensor& mask, const Tensor& dy,
                bool set) {
  if (!grads.wants(i)) return;
  const auto [target, accumulate] = grads.target(i);
  const kernels::Choice taken{.values = dy.data()}, left{};
  kernels::select(meet, mask.data<std::int8_t>(), set ? taken : left, set ? left : taken, target.data(), accumulate);
}

}  // namespace

Tensor where(const Tensor& mask, const Tensor& a, const Tensor& b) {
  check_float("where", "a", a);
  check_float("where", "b", b);
  if (a.shape() != b.shape())
    fail("where", "a and b must have the same shape: got a ", a.shape(), " and b ", b.shape());
  const kernels::Broadcast meet = mask_over("where", mask, a.shape());
  Tensor y = Tensor::like(a);
  kernels::select(meet, mask.data<std::int8_t>(), {.values = a.data()}, {.values = b.data()}, y.data());
  return record("where", y, {a, b}, [meet, mask](const Tensor& dy, Grads& grads) {
    add_chosen(grads, 0, meet, mask, dy, true);
    add_chosen(grads, 1, meet, mask, dy, false);
  });
}

Tensor masked_fill(const Tensor& x, const Tensor& mask, float value) {
  check_float("masked_fill", "x", x);
  const kernels::Broadcast meet = mask_over("masked_fill", mask, x.shape());
  Tensor y = Tensor::like(x);
  kernels::select(meet, mask.data<std::int8_t>(), {.constant = value}, {.values = x.data()}, y.data());
  return record("masked_fill", y, {x},
                [meet, mask](const Tensor& dy, Grads& grads) { add_chosen(grads, 0, meet, mask, dy, false); });
}

}  // namespace attend
