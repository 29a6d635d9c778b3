#include "attend/ops/transpose.h"

#include <utility>

#include "attend/kernels/movement.h"
#include "attend/ops/check.h"
#include "attend/ops/tape.h"

namespace attend {

Tensor transpose(const Tensor& x, int i, int j) {
  check_float("transpose", "x", x);
  i = check_dim("transpose", x, i);
  j = check_dim("transpose", x, j);
  if (i > j) std::swap(i, j);
  if (i == j) return x;
  kernels::Swap swap{.m = x.dim(i), .n = x.dim(j)};
  for (int d = 0; d < x.rank(); ++d) (d < i ? swap.a : d < j ? swap.b : swap.c) *= d == i || d == j ? 1 : x.dim(d);
  Tensor y = Tensor::empty(x.shape().with(i, swap.n).with(j, swap.m));
  kernels::transpose(swap, x.data(), y.data());
  return record("transpose", y, {x}, [swap](const Tensor& dy, Grads& grads) {
    const auto [dx, accumulate] = grads.target(0);
    kernels::transpose({swap.a, swap.n, swap.b, swap.m, swap.c}, dy.data(), dx.data(), accumulate);
  });
}

}  // namespace attend
