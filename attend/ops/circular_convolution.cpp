#include "attend/ops/circular_convolution.h"

#include "attend/kernels/circular_convolution.h"
#include "attend/ops/check.h"
#include "attend/ops/tape.h"

namespace attend {

Tensor circular_convolution(const Tensor& w, const Tensor& s) {
  check_float("circular_convolution", "w", w);
  check_float("circular_convolution", "s", s);
  if (w.rank() != 2 || s.rank() != 2 || w.dim(0) != s.dim(0) || s.dim(1) % 2 == 0 || s.dim(1) > w.dim(1))
    fail("circular_convolution", "the shapes do not fit: got w ", w.shape(), " and s ", s.shape(),
         ", expected [B, N] and [B, K] with K odd and at most N");
  const std::int64_t batch = w.dim(0), n = w.dim(1), k = s.dim(1);
  const Tensor y = Tensor::like(w);
  kernels::circular_convolution(batch, n, k, w.data(), s.data(), y.data());
  return record("circular_convolution", y, {w, s}, [=, w = w.detach(), s = s.detach()](const Tensor& dy, Grads& grads) {
    kernels::CircularGradient gradient;
    if (grads.wants(0)) {
      const auto [dw, accumulate] = grads.target(0);
      gradient.dw = dw.data(), gradient.add_to_dw = accumulate;
    }
    if (grads.wants(1)) {
      const auto [ds, accumulate] = grads.target(1);
      gradient.ds = ds.data(), gradient.add_to_ds = accumulate;
    }
    kernels::circular_convolution_backward(batch, n, k, w.data(), s.data(), dy.data(), gradient);
  });
}

}  // namespace attend
