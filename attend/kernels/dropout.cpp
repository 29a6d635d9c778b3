#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "attend/kernels/dropout.cpp"
#include "attend/kernels/foreach_target.h"  // IWYU pragma: keep

#include <hwy/highway.h>

#include <algorithm>

#include "attend/core/threads.h"
#include "attend/kernels/dropout.h"
#include "attend/kernels/philox-inl.h"

HWY_BEFORE_NAMESPACE();
namespace attend::kernels::HWY_NAMESPACE {
namespace {

template <bool accumulate>
void DropoutRange(std::int64_t n, DropoutRate rate, PhiloxKey key, const float* x, float* y) {
  const hn::CappedTag<float, kDropoutBlockSize> d;
  constexpr auto kBlock = static_cast<std::int64_t>(kDropoutBlockSize);
  const auto lanes = static_cast<std::int64_t>(hn::Lanes(d));
  parallel_for(n, 256 * kBlock, [&](std::int64_t begin, std::int64_t end) {
    HWY_ALIGN float multipliers[kDropoutBlockSize];
    const PhiloxStream stream(key);
    for (std::int64_t i = begin; i < end; i += kBlock) {
      DropoutMultipliers(stream, rate, static_cast<std::uint64_t>(i / kBlock), multipliers);
      const std::int64_t count = std::min(kBlock, end - i);
      if (count == kBlock) {
        for (std::int64_t j = 0; j < kBlock; j += lanes) {
          const auto m = hn::Load(d, multipliers + j), v = hn::LoadU(d, x + i + j);
          hn::StoreU(accumulate ? hn::MulAdd(v, m, hn::LoadU(d, y + i + j)) : hn::Mul(v, m), d, y + i + j);
        }
      } else {
        for (std::int64_t j = 0; j < count; ++j)
          y[i + j] = accumulate ? x[i + j] * multipliers[j] + y[i + j] : x[i + j] * multipliers[j];
      }
    }
  });
}

void Dropout(std::int64_t n, DropoutRate rate, PhiloxKey key, const float* x, float* y, bool accumulate) {
  accumulate ? DropoutRange<true>(n, rate, key, x, y) : DropoutRange<false>(n, rate, key, x, y);
}

}  // namespace
}  // namespace attend::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace attend::kernels {

HWY_EXPORT(Dropout);
void dropout(std::int64_t n, DropoutRate rate, PhiloxKey key, const float* x, float* y, bool accumulate) {
  HWY_DYNAMIC_DISPATCH(Dropout)(n, rate, key, x, y, accumulate);
}

}  // namespace attend::kernels
#endif
