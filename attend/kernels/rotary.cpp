#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "attend/kernels/rotary.cpp"
#include "attend/kernels/foreach_target.h"  // IWYU pragma: keep

#include <hwy/highway.h>

#include "attend/core/threads.h"
#include "attend/kernels/loop-inl.h"
#include "attend/kernels/rotary.h"

HWY_BEFORE_NAMESPACE();
namespace attend::kernels::HWY_NAMESPACE {
namespace {

/// y = x, or y += x if `accumulate`.
template <bool accumulate>
HWY_INLINE void Pass(std::int64_t n, const float* x, float* y) {
  if (!accumulate && x == y) return;
  ForVectors(n, [&](auto at) ATTEND_BODY { at.Store(accumulate ? hn::Add(at.Load(x), at.Load(y)) : at.Load(x), y); });
}

/// Replaces (a, b) with (a cos - b sin, b cos + a sin).
HWY_INLINE void Turn(FloatVector cosine, FloatVector sine, FloatVector& a, FloatVector& b) {
  const FloatVector turned = hn::MulSub(a, cosine, hn::Mul(b, sine));
  b = hn::MulAdd(b, cosine, hn::Mul(a, sine));
  a = turned;
}

/// Pairs (i, i + half).
template <bool accumulate>
HWY_INLINE void RotateHalves(std::int64_t half, const float* cosines, const float* sines, FloatVector sign,
                             const float* x, float* y) {
  ForVectors(half, [&](auto at) ATTEND_BODY {
    FloatVector a = at.Load(x), b = at.Load(x + half);
    Turn(at.Load(cosines), hn::Mul(at.Load(sines), sign), a, b);
    if constexpr (accumulate) a = hn::Add(a, at.Load(y)), b = hn::Add(b, at.Load(y + half));
    at.Store(a, y);
    at.Store(b, y + half);
  });
}

/// Pairs (2i, 2i + 1).
template <bool accumulate>
HWY_INLINE void RotateInterleaved(std::int64_t half, const float* cosines, const float* sines, FloatVector sign,
                                  const float* x, float* y) {
  const Floats d;
  const auto lanes = static_cast<std::int64_t>(hn::Lanes(d));
  std::int64_t i = 0;
  for (; i + lanes <= half; i += lanes) {
    FloatVector a, b;
    hn::LoadInterleaved2(d, x + 2 * i, a, b);
    Turn(hn::LoadU(d, cosines + i), hn::Mul(hn::LoadU(d, sines + i), sign), a, b);
    if constexpr (accumulate) {
      FloatVector before_a, before_b;
      hn::LoadInterleaved2(d, y + 2 * i, before_a, before_b);
      a = hn::Add(a, before_a), b = hn::Add(b, before_b);
    }
    hn::StoreInterleaved2(a, b, d, y + 2 * i);
  }
  for (; i < half; ++i) {
    const float a = x[2 * i], b = x[2 * i + 1], cosine = cosines[i], sine = sines[i] * hn::GetLane(sign);
    y[2 * i] = a * cosine - b * sine + (accumulate ? y[2 * i] : 0.f);
    y[2 * i + 1] = b * cosine + a * sine + (accumulate ? y[2 * i + 1] : 0.f);
  }
}

template <bool interleaved, bool accumulate>
void RotateRows(const Rotation& p, const float* x, float* y) {
  const FloatVector sign = hn::Set(Floats(), p.inverse ? -1.f : 1.f);
  const std::int64_t half = p.rotary_dim / 2, rest = p.head_dim - p.rotary_dim, rotated = p.heads * p.head_dim;
  parallel_for(p.rows, 1 + 8192 / (p.width + 1), [&](std::int64_t row, std::int64_t end) {
    for (; row < end; ++row) {
      const float *cosines = p.cosines + p.positions[row] * half, *sines = p.sines + p.positions[row] * half;
      const float* from = x + row * p.width;
      float* to = y + row * p.width;
      for (std::int64_t head = 0; head < rotated; head += p.head_dim) {
        if constexpr (interleaved)
          RotateInterleaved<accumulate>(half, cosines, sines, sign, from + head, to + head);
        else
          RotateHalves<accumulate>(half, cosines, sines, sign, from + head, to + head);
        Pass<accumulate>(rest, from + head + p.rotary_dim, to + head + p.rotary_dim);
      }
      Pass<accumulate>(p.width - rotated, from + rotated, to + rotated);
    }
  });
}

void Rotate(const Rotation& p, const float* x, float* y) {
  if (p.interleaved)
    p.accumulate ? RotateRows<true, true>(p, x, y) : RotateRows<true, false>(p, x, y);
  else
    p.accumulate ? RotateRows<false, true>(p, x, y) : RotateRows<false, false>(p, x, y);
}

}  // namespace
}  // namespace attend::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace attend::kernels {

HWY_EXPORT(Rotate);
void rotate(const Rotation& p, const float* x, float* y) { HWY_DYNAMIC_DISPATCH(Rotate)(p, x, y); }

}  // namespace attend::kernels
#endif
