#include "attend/ops/dropout.h"

#include "attend/kernels/dropout.h"
#include "attend/ops/check.h"
#include "attend/ops/tape.h"

namespace attend {
namespace {

thread_local bool training_enabled = false;

}  // namespace

bool training() { return training_enabled; }
Training::Training(bool on) : before_(training_enabled) { training_enabled = on; }
Training::~Training() { training_enabled = before_; }

Tensor dropout(const Tensor& x, float p, PhiloxKey key) {
  check_float("dropout", "x", x);
  if (!(p >= 0.f && p <= 1.f)) fail("dropout", "the probability p is out of range: got ", p, ", expected 0 to 1");
  if (!training() || p == 0.f) return x;
  const kernels::DropoutRate rate(p);
  Tensor y = Tensor::like(x);
  kernels::dropout(x.numel(), rate, key, x.data(), y.data(), false);
  return record("dropout", y, {x}, [rate, key](const Tensor& dy, Grads& grads) {
    const auto [dx, accumulate] = grads.target(0);
    kernels::dropout(dy.numel(), rate, key, dy.data(), dx.data(), accumulate);
  });
}

Tensor dropout(const Tensor& x, float p) {
  const bool acts = training() && p > 0.f;
  return dropout(x, p, acts ? default_generator().next() : PhiloxKey{});
}

}  // namespace attend
