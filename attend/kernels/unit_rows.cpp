#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "attend/kernels/unit_rows.cpp"
#include "attend/kernels/foreach_target.h"  // IWYU pragma: keep
#include <hwy/highway.h>

#include <algorithm>
#include <cmath>

#include "attend/core/threads.h"
#include "attend/kernels/loop-inl.h"
#include "attend/kernels/unit_rows.h"

HWY_BEFORE_NAMESPACE();
namespace attend::kernels::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;
namespace {

std::int64_t RowGrain(std::int64_t cols) { return std::max<std::int64_t>(1, 16384 / std::max<std::int64_t>(cols, 1)); }

HWY_INLINE float Dot(std::int64_t n, const float* a, const float* b) {
  Sums sums;
  ForVectorsByFour(
      n, [&](auto at, int k) ATTEND_BODY { sums.part[k] = hn::MulAdd(at.Load(a), at.Load(b), sums.part[k]); });
  return sums.Total();
}

void UnitRows(std::int64_t rows, std::int64_t cols, const float* x, float eps, float* y, float* scales) {
  parallel_for(rows, RowGrain(cols), [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t r = begin; r < end; ++r) {
      const float* from = x + r * cols;
      float* to = y + r * cols;
      scales[r] = 1.f / std::max(std::sqrt(Dot(cols, from, from)), eps);
      const FloatVector scale = hn::Set(Floats(), scales[r]);
      ForVectors(cols, [&](const auto& at) ATTEND_BODY { at.Store(hn::Mul(at.Load(from), scale), to); });
    }
  });
}

void UnitRowsBackward(std::int64_t rows, std::int64_t cols, const float* y, const float* scales, float eps,
                      const float* dy, float* dx, bool accumulate) {
  parallel_for(rows, RowGrain(cols), [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t r = begin; r < end; ++r) {
      const float *row = y + r * cols, *from = dy + r * cols;
      float* to = dx + r * cols;
      const bool only_scaled = scales[r] >= 1.f / eps;
      const FloatVector scale = hn::Set(Floats(), scales[r]);
      const FloatVector along = hn::Set(Floats(), only_scaled ? 0.f : Dot(cols, row, from));
      ForVectors(cols, [&](const auto& at) ATTEND_BODY {
        const FloatVector g = hn::Mul(scale, hn::NegMulAdd(along, at.Load(row), at.Load(from)));
        at.Store(accumulate ? hn::Add(at.Load(to), g) : g, to);
      });
    }
  });
}

}  // namespace
}  // namespace attend::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace attend::kernels {

HWY_EXPORT(UnitRows);
void unit_rows(std::int64_t rows, std::int64_t cols, const float* x, float eps, float* y, float* scales) {
  HWY_DYNAMIC_DISPATCH(UnitRows)(rows, cols, x, eps, y, scales);
}

HWY_EXPORT(UnitRowsBackward);
void unit_rows_backward(std::int64_t rows, std::int64_t cols, const float* y, const float* scales, float eps,
                        const float* dy, float* dx, bool accumulate) {
  HWY_DYNAMIC_DISPATCH(UnitRowsBackward)(rows, cols, y, scales, eps, dy, dx, accumulate);
}

}  // namespace attend::kernels
#endif
