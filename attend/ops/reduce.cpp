#include "attend/ops/reduce.h"

#include "attend/kernels/reduce.h"
#include "attend/ops/check.h"
#include "attend/ops/tape.h"

namespace attend {
namespace {

using kernels::Middle;

/// Views a shape as [outer, n, inner], where n is the size of the given dimension.
Middle around(const Shape& shape, int dim, bool mean = false) {
  Middle middle{.n = shape[dim], .mean = mean};
  for (int d = 0; d < dim; ++d) middle.outer *= shape[d];
  for (int d = dim + 1; d < shape.rank(); ++d) middle.inner *= shape[d];
  return middle;
}

Shape reduced(const Shape& shape, int dim, bool keepdim) { return keepdim ? shape.with(dim, 1) : shape.without(dim); }

Middle around_lengths(const char* op, const Tensor& x, const Tensor& lengths, bool mean) {
  check_float(op, "x", x);
  if (x.rank() != 3) fail(op, "wrong shape: got ", x.shape(), ", expected [B, T, D] with lengths");
  check_lengths(op, lengths, x.dim(0), x.dim(1));
  return {x.dim(0), x.dim(1), x.dim(2), lengths.data<std::int32_t>(), mean};
}

/// `lengths` keeps the memory alive that `middle` points to, if any.
Tensor add_up(const char* op, const Tensor& x, const Middle& middle, const Shape& shape, const Tensor& lengths = {}) {
  Tensor y = Tensor::empty(shape);
  kernels::sum_middle(middle, x.data(), y.data());
  return record(op, y, {x}, [middle, lengths](const Tensor& dy, Grads& grads) {
    const auto [dx, accumulate] = grads.target(0);
    kernels::spread_middle(middle, dy.data(), dx.data(), accumulate);
  });
}

Tensor largest(const Tensor& x, const Middle& middle, const Shape& shape, const Tensor& lengths = {}) {
  Tensor y = Tensor::empty(shape), index = Tensor::empty(shape, DType::i32);
  kernels::max_middle(middle, x.data(), y.data(), index.data<std::int32_t>());
  return record("max", y, {x}, [middle, index, lengths](const Tensor& dy, Grads& grads) {
    const auto [dx, accumulate] = grads.target(0);
    kernels::max_middle_backward(middle, index.data<std::int32_t>(), dy.data(), dx.data(), accumulate);
  });
}

Tensor add_up(const char* op, const Tensor& x, int dim, bool keepdim, bool mean) {
  check_float(op, "x", x);
  dim = check_dim(op, x, dim);
  return add_up(op, x, around(x.shape(), dim, mean), reduced(x.shape(), dim, keepdim));
}

int check_max(const char* op, const Tensor& x, int dim) {
  check_float(op, "x", x);
  dim = check_dim(op, x, dim);
  if (x.dim(dim) == 0) fail(op, "an empty dimension has no maximum: got x ", x.shape(), " and dimension ", dim);
  return dim;
}

}  // namespace

Tensor sum(const Tensor& x, int dim, bool keepdim) { return add_up("sum", x, dim, keepdim, false); }
Tensor mean(const Tensor& x, int dim, bool keepdim) { return add_up("mean", x, dim, keepdim, true); }

Tensor max(const Tensor& x, int dim, bool keepdim) {
  dim = check_max("max", x, dim);
  return largest(x, around(x.shape(), dim), reduced(x.shape(), dim, keepdim));
}

Tensor argmax(const Tensor& x, int dim, bool keepdim) {
  dim = check_max("argmax", x, dim);
  const Shape shape = reduced(x.shape(), dim, keepdim);
  const Tensor y = Tensor::empty(shape);
  Tensor index = Tensor::empty(shape, DType::i32);
  kernels::max_middle(around(x.shape(), dim), x.data(), y.data(), index.data<std::int32_t>());
  return index;
}

Tensor sum(const Tensor& x) { return add_up("sum", x.reshape(Shape{x.numel()}), 0, false, false); }
Tensor mean(const Tensor& x) { return add_up("mean", x.reshape(Shape{x.numel()}), 0, false, true); }
Tensor max(const Tensor& x) { return max(x.reshape(Shape{x.numel()}), 0); }

Tensor sum(const Tensor& x, const Tensor& lengths) {
  const Middle middle = around_lengths("sum", x, lengths, false);
  return add_up("sum", x, middle, {middle.outer, middle.inner}, lengths);
}
Tensor mean(const Tensor& x, const Tensor& lengths) {
  const Middle middle = around_lengths("mean", x, lengths, true);
  return add_up("mean", x, middle, {middle.outer, middle.inner}, lengths);
}
Tensor max(const Tensor& x, const Tensor& lengths) {
  const Middle middle = around_lengths("max", x, lengths, false);
  return largest(x, middle, {middle.outer, middle.inner}, lengths);
}

}  // namespace attend
