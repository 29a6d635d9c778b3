#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "attend/kernels/gated.cpp"
#include "attend/kernels/foreach_target.h"  // IWYU pragma: keep

#include <hwy/highway.h>

#include "attend/core/threads.h"
#include "attend/kernels/activation-inl.h"
#include "attend/kernels/gated.h"
#include "attend/kernels/loop-inl.h"

HWY_BEFORE_NAMESPACE();
namespace attend::kernels::HWY_NAMESPACE {
namespace {

/// Calls body(row) for all rows, on all threads.
template <class Body>
void ForRows(std::int64_t rows, std::int64_t cols, const Body& body) {
  parallel_for(rows, 1 + 8192 / (cols + 1), [&](std::int64_t row, std::int64_t end) {
    for (; row < end; ++row) body(row);
  });
}

void Gated(std::int64_t rows, std::int64_t cols, const float* x, Activation activation, float* y) {
  WithActivation(activation, [&](const auto& forward, const auto&, const auto&) {
    ForRows(rows, cols, [&](std::int64_t row) {
      const float *gate = x + 2 * row * cols, *up = gate + cols;
      float* to = y + row * cols;
      ForVectors(cols,
                 [&](auto at) ATTEND_BODY { at.Store(hn::Mul(forward(Floats(), at.Load(gate)), at.Load(up)), to); });
    });
  });
}

void GatedBackward(std::int64_t rows, std::int64_t cols, const float* x, const float* dy, Activation activation,
                   float* dx, bool add_to_dx) {
  WithActivation(activation, [&](const auto&, const auto&, const auto& both) {
    ForRows(rows, cols, [&](std::int64_t row) {
      const float *gate = x + 2 * row * cols, *up = gate + cols, *g = dy + row * cols;
      float *dgate = dx + 2 * row * cols, *dup = dgate + cols;
      ForVectors(cols, [&](auto at) ATTEND_BODY {
        const auto a = both(Floats(), at.Load(gate));
        FloatVector to_gate = hn::Mul(hn::Mul(at.Load(g), at.Load(up)), a.derivative);
        FloatVector to_up = hn::Mul(at.Load(g), a.value);
        if (add_to_dx) to_gate = hn::Add(to_gate, at.Load(dgate)), to_up = hn::Add(to_up, at.Load(dup));
        at.Store(to_gate, dgate);
        at.Store(to_up, dup);
      });
    });
  });
}

}  // namespace
}  // namespace attend::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace attend::kernels {

HWY_EXPORT(Gated);
HWY_EXPORT(GatedBackward);

void gated(std::int64_t rows, std::int64_t cols, const float* x, Activation activation, float* y) {
  HWY_DYNAMIC_DISPATCH(Gated)(rows, cols, x, activation, y);
}
void gated_backward(std::int64_t rows, std::int64_t cols, const float* x, const float* dy, Activation activation,
                    float* dx, bool add_to_dx) {
  HWY_DYNAMIC_DISPATCH(GatedBackward)(rows, cols, x, dy, activation, dx, add_to_dx);
}

}  // namespace attend::kernels
#endif
