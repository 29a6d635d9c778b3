#include "attend/ops/gated.h"

#include "attend/kernels/gated.h"
#include "attend/ops/check.h"
#include "attend/ops/tape.h"

namespace attend {

Tensor gated(const Tensor& x, Activation activation) {
  check_float("gated", "x", x);
  if (x.rank() == 0 || x.dim(-1) % 2 != 0)
    fail("gated", "the last dimension must be even: got x ", x.shape(), ", expected [..., 2·F]");
  const std::int64_t rows = x.rows(), cols = x.dim(-1) / 2;
  Tensor y = Tensor::empty(x.shape().with(-1, cols));
  kernels::gated(rows, cols, x.data(), activation, y.data());
  return record("gated", y, {x}, [=, x = x.detach()](const Tensor& dy, Grads& grads) {
    const auto [dx, accumulate] = grads.target(0);
    kernels::gated_backward(rows, cols, x.data(), dy.data(), activation, dx.data(), accumulate);
  });
}

}  // namespace attend
