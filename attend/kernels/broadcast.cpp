#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "attend/kernels/broadcast.cpp"
#include "attend/kernels/foreach_target.h"  // IWYU pragma: keep

#include <hwy/highway.h>

#include <algorithm>

#include "attend/core/threads.h"
#include "attend/kernels/broadcast.h"

HWY_BEFORE_NAMESPACE();
namespace attend::kernels::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;
namespace {

constexpr std::int64_t kBroadcastGrain = 16384;  // minimum number of floats for each thread

/// Calls run(n, a offset, b offset, y offset) for each run of n elements of the innermost dimension, on all threads.
template <typename Run>
void ForEachRun(const Broadcast& shape, const Run& run) {
  const std::int64_t s1 = shape.sizes[1], s2 = shape.sizes[2], inner = shape.sizes[3];
  const std::int64_t total = shape.sizes[0] * s1 * s2 * inner;
  parallel_for(total, kBroadcastGrain, [&](std::int64_t begin, std::int64_t end) {
    while (begin < end) {
      const std::int64_t row = begin / inner, column = begin % inner;
      const std::int64_t n = std::min(inner - column, end - begin);
      const std::array<std::int64_t, 4> at = {row / (s1 * s2), row / s2 % s1, row % s2, column};
      std::int64_t a = 0, b = 0;
      for (std::size_t d = 0; d < 4; ++d) a += at[d] * shape.a_strides[d], b += at[d] * shape.b_strides[d];
      run(n, a, b, begin);
      begin += n;
    }
  });
}

template <Binary op, class V>
HWY_INLINE V Apply(V a, V b) {
  if constexpr (op == Binary::add) return hn::Add(a, b);
  if constexpr (op == Binary::sub) return hn::Sub(a, b);
  if constexpr (op == Binary::mul) return hn::Mul(a, b);
  if constexpr (op == Binary::div) return hn::Div(a, b);
}

/// Loads one vector of an operand, or repeats its first element if the stride is 0.
template <bool advances, class D>
HWY_INLINE hn::Vec<D> Operand(D d, const float* x, std::int64_t i) {
  if constexpr (advances) return hn::LoadU(d, x + i);
  return hn::Set(d, *x);
}

template <bool accumulate, class D>
HWY_INLINE void Put(D d, hn::Vec<D> value, float scale, float* y) {
  const auto scaled = hn::Mul(value, hn::Set(d, scale));
  hn::StoreU(accumulate ? hn::Add(hn::LoadU(d, y), scaled) : scaled, d, y);
}

template <Binary op, bool a_advances, bool b_advances, bool accumulate>
void BinaryRun(std::int64_t n, const float* a, const float* b, float* y, float scale) {
  const hn::ScalableTag<float> d;
  const hn::CappedTag<float, 1> d1;
  const auto lanes = static_cast<std::int64_t>(hn::Lanes(d));
  std::int64_t i = 0;
  for (; i + lanes <= n; i += lanes)
    Put<accumulate>(d, Apply<op>(Operand<a_advances>(d, a, i), Operand<b_advances>(d, b, i)), scale, y + i);
  for (; i < n; ++i)
    Put<accumulate>(d1, Apply<op>(Operand<a_advances>(d1, a, i), Operand<b_advances>(d1, b, i)), scale, y + i);
}

template <Binary op, bool accumulate>
void BinaryAs(const Broadcast& shape, const float* a, const float* b, float* y, float scale) {
  auto* run = &BinaryRun<op, true, true, accumulate>;
  if (shape.a_strides[3] == 0) run = &BinaryRun<op, false, true, accumulate>;
  if (shape.b_strides[3] == 0) run = &BinaryRun<op, true, false, accumulate>;
  if (shape.a_strides[3] == 0 && shape.b_strides[3] == 0) run = &BinaryRun<op, false, false, accumulate>;
  ForEachRun(shape, [&](std::int64_t n, std::int64_t a_at, std::int64_t b_at, std::int64_t y_at) {
    run(n, a + a_at, b + b_at, y + y_at, scale);
  });
}

template <Binary op>
void BinaryOp(const Broadcast& shape, const float* a, const float* b, float* y, Store store) {
  if (store.accumulate)
    BinaryAs<op, true>(shape, a, b, y, store.scale);
  else
    BinaryAs<op, false>(shape, a, b, y, store.scale);
}

void RunBinary(Binary op, const Broadcast& shape, const float* a, const float* b, float* y, Store store) {
  switch (op) {
    case Binary::add:
      return BinaryOp<Binary::add>(shape, a, b, y, store);
    case Binary::sub:
      return BinaryOp<Binary::sub>(shape, a, b, y, store);
    case Binary::mul:
      return BinaryOp<Binary::mul>(shape, a, b, y, store);
    case Binary::div:
      return BinaryOp<Binary::div>(shape, a, b, y, store);
  }
}

/// mask[i] ? a : b, for one vector.
template <class D>
HWY_INLINE hn::Vec<D> Pick(D d, const std::int8_t* mask, std::int64_t stride, Choice a, Choice b, std::int64_t i) {
  const hn::Rebind<std::int32_t, D> di;
  const hn::Rebind<std::int8_t, D> d8;
  const auto flags = stride ? hn::PromoteTo(di, hn::LoadU(d8, mask + i)) : hn::Set(di, *mask);
  const auto chosen = hn::RebindMask(d, hn::Ne(flags, hn::Zero(di)));
  const auto value_a = a.values ? hn::LoadU(d, a.values + i) : hn::Set(d, a.constant);
  const auto value_b = b.values ? hn::LoadU(d, b.values + i) : hn::Set(d, b.constant);
  return hn::IfThenElse(chosen, value_a, value_b);
}

template <bool accumulate>
void SelectAs(const Broadcast& shape, const std::int8_t* mask, Choice a, Choice b, float* y) {
  ForEachRun(shape, [&](std::int64_t n, std::int64_t, std::int64_t mask_at, std::int64_t at) {
    const hn::ScalableTag<float> d;
    const hn::CappedTag<float, 1> d1;
    const auto lanes = static_cast<std::int64_t>(hn::Lanes(d));
    const Choice run_a{a.values ? a.values + at : nullptr, a.constant};
    const Choice run_b{b.values ? b.values + at : nullptr, b.constant};
    const std::int64_t stride = shape.b_strides[3];
    std::int64_t i = 0;
    for (; i + lanes <= n; i += lanes)
      Put<accumulate>(d, Pick(d, mask + mask_at, stride, run_a, run_b, i), 1.f, y + at + i);
    for (; i < n; ++i) Put<accumulate>(d1, Pick(d1, mask + mask_at, stride, run_a, run_b, i), 1.f, y + at + i);
  });
}

void Select(const Broadcast& shape, const std::int8_t* mask, Choice a, Choice b, float* y, bool accumulate) {
  if (accumulate)
    SelectAs<true>(shape, mask, a, b, y);
  else
    SelectAs<false>(shape, mask, a, b, y);
}

}  // namespace
}  // namespace attend::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace attend::kernels {

HWY_EXPORT(RunBinary);
HWY_EXPORT(Select);

void binary(Binary op, const Broadcast& shape, const float* a, const float* b, float* y, Store store) {
  HWY_DYNAMIC_DISPATCH(RunBinary)(op, shape, a, b, y, store);
}
void select(const Broadcast& shape, const std::int8_t* mask, Choice a, Choice b, float* y, bool accumulate) {
  HWY_DYNAMIC_DISPATCH(Select)(shape, mask, a, b, y, accumulate);
}

}  // namespace attend::kernels
#endif
