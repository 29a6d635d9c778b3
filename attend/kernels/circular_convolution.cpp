#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "attend/kernels/circular_convolution.cpp"
#include "attend/kernels/foreach_target.h"  // IWYU pragma: keep
#include <hwy/highway.h>

#include <algorithm>

#include "attend/core/threads.h"
#include "attend/kernels/circular_convolution.h"
#include "attend/kernels/loop-inl.h"
#include "attend/kernels/scratch.h"

HWY_BEFORE_NAMESPACE();
namespace attend::kernels::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;
namespace {

/// A row with circular padding at both ends: data[t] = row[(t - half) mod n], t from 0 to n + 2 half - 1.
struct Ring : Scratch {
  std::int64_t n, half;

  Ring(std::int64_t n, std::int64_t half) : Scratch(n + 2 * half), n(n), half(half) {}
  void Fill(const float* row) const {
    std::copy_n(row, n, data + half);
    std::copy_n(row + n - half, half, data);
    std::copy_n(row, half, data + half + n);
  }
};

/// The minimum number of rows for each thread.
std::int64_t BatchGrain(std::int64_t n, std::int64_t k) { return 1 + 16384 / (n * k + 1); }

void Convolve(std::int64_t batch, std::int64_t n, std::int64_t k, const float* w, const float* s, float* y) {
  parallel_for(batch, BatchGrain(n, k), [&](std::int64_t begin, std::int64_t end) {
    const Ring ring(n, k / 2);
    for (std::int64_t b = begin; b < end; ++b) {
      ring.Fill(w + b * n);
      ForVectors(n, [&](const auto& at) ATTEND_BODY {
        FloatVector sum = hn::Zero(Floats());
        for (std::int64_t m = 0; m < k; ++m)
          sum = hn::MulAdd(hn::Set(Floats(), s[b * k + m]), at.Load(ring.data + k - 1 - m), sum);
        at.Store(sum, y + b * n);
      });
    }
  });
}

void ConvolveBackward(std::int64_t batch, std::int64_t n, std::int64_t k, const float* w, const float* s,
                      const float* dy, const CircularGradient& gradient) {
  parallel_for(batch, BatchGrain(n, k), [&](std::int64_t begin, std::int64_t end) {
    const Ring ring(n, k / 2);
    for (std::int64_t b = begin; b < end; ++b) {
      if (gradient.dw) {
        float* const dw = gradient.dw + b * n;
        ring.Fill(dy + b * n);
        ForVectors(n, [&](const auto& at) ATTEND_BODY {
          FloatVector sum = gradient.add_to_dw ? at.Load(dw) : hn::Zero(Floats());
          for (std::int64_t m = 0; m < k; ++m)
            sum = hn::MulAdd(hn::Set(Floats(), s[b * k + m]), at.Load(ring.data + m), sum);
          at.Store(sum, dw);
        });
      }
      if (gradient.ds) {
        ring.Fill(w + b * n);
        for (std::int64_t m = 0; m < k; ++m) {
          Sums sums;
          ForVectorsByFour(n, [&](auto at, int part) ATTEND_BODY {
            sums.part[part] = hn::MulAdd(at.Load(dy + b * n), at.Load(ring.data + k - 1 - m), sums.part[part]);
          });
          float& ds = gradient.ds[b * k + m];
          ds = (gradient.add_to_ds ? ds : 0.f) + sums.Total();
        }
      }
    }
  });
}

}  // namespace
}  // namespace attend::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace attend::kernels {

HWY_EXPORT(Convolve);
void circular_convolution(std::int64_t batch, std::int64_t n, std::int64_t k, const float* w, const float* s,
                          float* y) {
  HWY_DYNAMIC_DISPATCH(Convolve)(batch, n, k, w, s, y);
}

HWY_EXPORT(ConvolveBackward);
void circular_convolution_backward(std::int64_t batch, std::int64_t n, std::int64_t k, const float* w, const float* s,
                                   const float* dy, const CircularGradient& gradient) {
  HWY_DYNAMIC_DISPATCH(ConvolveBackward)(batch, n, k, w, s, dy, gradient);
}

}  // namespace attend::kernels
#endif
