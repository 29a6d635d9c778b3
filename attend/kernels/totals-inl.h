// Horizontal sums of four vectors at once, the last step of vectorised dot products. Compiled once for each instruction
// set.
#if defined(ATTEND_KERNELS_TOTALS_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef ATTEND_KERNELS_TOTALS_INL_H_
#undef ATTEND_KERNELS_TOTALS_INL_H_
#else
#define ATTEND_KERNELS_TOTALS_INL_H_
#endif
#include <hwy/highway.h>

#include <algorithm>
#include <array>

#include "attend/kernels/loop-inl.h"

HWY_BEFORE_NAMESPACE();
namespace attend::kernels::HWY_NAMESPACE {

#if HWY_TARGET == HWY_SCALAR
using Four = std::array<float, 4>;
HWY_INLINE Four LoadFour(const float* p) { return {p[0], p[1], p[2], p[3]}; }
HWY_INLINE Four SetFour(float x) { return {x, x, x, x}; }
HWY_INLINE void StoreFour(const Four& v, float* p) { std::copy_n(v.data(), 4, p); }
HWY_INLINE Four AddFour(const Four& a, const Four& b) { return {a[0] + b[0], a[1] + b[1], a[2] + b[2], a[3] + b[3]}; }
HWY_INLINE Four MulFour(const Four& a, const Four& b) { return {a[0] * b[0], a[1] * b[1], a[2] * b[2], a[3] * b[3]}; }
/// The sum of the lanes of each vector. The order of additions depends on the instruction set, not on the vector.
HWY_INLINE Four Totals(const FloatVector (&v)[4]) {
  return {hn::GetLane(v[0]), hn::GetLane(v[1]), hn::GetLane(v[2]), hn::GetLane(v[3])};
}
#else
using Four = hn::Vec<hn::FixedTag<float, 4> >;
HWY_INLINE Four LoadFour(const float* p) { return hn::LoadU(hn::FixedTag<float, 4>(), p); }
HWY_INLINE Four SetFour(float x) { return hn::Set(hn::FixedTag<float, 4>(), x); }
HWY_INLINE void StoreFour(Four v, float* p) { hn::StoreU(v, hn::FixedTag<float, 4>(), p); }
HWY_INLINE Four AddFour(Four a, Four b) { return hn::Add(a, b); }
HWY_INLINE Four MulFour(Four a, Four b) { return hn::Mul(a, b); }

template <class D>
HWY_INLINE Four SumOfBlocks(D /*d*/, hn::Vec<D> v) {
  if constexpr (hn::MaxLanes(D()) == 4) {
    return v;
  } else {
    const hn::Half<D> half;
    return SumOfBlocks(half, hn::Add(hn::LowerHalf(half, v), hn::UpperHalf(half, v)));
  }
}
/// The sum of the lanes of each vector. The order of additions depends on the instruction set, not on the vector.
HWY_INLINE Four Totals(const FloatVector (&v)[4]) {
  const Floats d;
  const hn::RepartitionToWide<Floats> pairs;
  const auto fold = [&](FloatVector a, FloatVector b)
                        ATTEND_BODY { return hn::Add(hn::InterleaveLower(d, a, b), hn::InterleaveUpper(d, a, b)); };
  const auto low = hn::BitCast(pairs, fold(v[0], v[1])), high = hn::BitCast(pairs, fold(v[2], v[3]));
  return SumOfBlocks(d, hn::Add(hn::BitCast(d, hn::InterleaveLower(pairs, low, high)),
                                hn::BitCast(d, hn::InterleaveUpper(pairs, low, high))));
}
#endif

}  // namespace attend::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
#endif
