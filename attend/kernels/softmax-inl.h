// The steps of a softmax over one row. Compiled once for each instruction set.
#if defined(ATTEND_KERNELS_SOFTMAX_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef ATTEND_KERNELS_SOFTMAX_INL_H_
#undef ATTEND_KERNELS_SOFTMAX_INL_H_
#else
#define ATTEND_KERNELS_SOFTMAX_INL_H_
#endif
#include <hwy/highway.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "attend/kernels/loop-inl.h"
#include "attend/kernels/math-inl.h"

HWY_BEFORE_NAMESPACE();
namespace attend::kernels::HWY_NAMESPACE {

/// The maximum of a row; -infinity if it is empty.
HWY_INLINE float RowMax(std::int64_t n, const float* x) {
  constexpr float kLowest = -std::numeric_limits<float>::infinity();
  const Floats d;
  FloatVector best[4] = {hn::Set(d, kLowest), hn::Set(d, kLowest), hn::Set(d, kLowest), hn::Set(d, kLowest)};
  ForVectorsByFour(n, [&](auto at, int k) ATTEND_BODY { best[k] = hn::Max(at.Or(at.Load(x), kLowest), best[k]); });
  return hn::GetLane(hn::MaxOfLanes(d, hn::Max(hn::Max(best[0], best[1]), hn::Max(best[2], best[3]))));
}

/// The sum of e^(x - shift). Also calls use(place, term) for each vector of terms.
template <class Use>
HWY_INLINE float RowExpSum(std::int64_t n, const float* x, float shift, const Use& use) {
  const Floats d;
  const FloatVector subtracted = hn::Set(d, shift);
  Sums sums;
  ForVectorsByFour(n, [&](auto at, int k) ATTEND_BODY {
    const FloatVector e = Exp(d, hn::Sub(at.Load(x), subtracted));
    use(at, e);
    sums.part[k] = hn::Add(sums.part[k], at.Or(e, 0.f));
  });
  return sums.Total();
}
HWY_INLINE float RowExpSum(std::int64_t n, const float* x, float shift) {
  return RowExpSum(n, x, shift, [](auto, FloatVector) ATTEND_BODY {});
}

/// The maximum, or 0 if it is -infinity, which cannot be subtracted.
HWY_INLINE float FiniteMax(float max) { return max == -std::numeric_limits<float>::infinity() ? 0.f : max; }

}  // namespace attend::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
#endif
