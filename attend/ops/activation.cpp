#include "attend/ops/activation.h"

#include "attend/ops/check.h"
#include "attend/ops/tape.h"

namespace attend {

Tensor activate(const Tensor& x, Activation activation) {
  check_float("activate", "x", x);
  if (activation == Activation::none) return x;
  Tensor y = Tensor::like(x);
  kernels::bias_activation(1, x.numel(), x.data(), nullptr, activation, nullptr, y.data());
  const Tensor saved = kernels::derivative_from_output(activation) ? y.detach() : x.detach();
  return record("activate", y, {x}, [saved, activation](const Tensor& dy, Grads& grads) {
    const auto [dx, accumulate] = grads.target(0);
    kernels::bias_activation_backward(1, dy.numel(), dy.data(), saved.data(), activation,
                                      {.dx = dx.data(), .add_to_dx = accumulate});
  });
}

}  // namespace attend
