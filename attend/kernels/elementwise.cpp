#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "attend/kernels/elementwise.cpp"
#include "attend/kernels/foreach_target.h"  // IWYU pragma: keep
#include <hwy/highway.h>

#include "attend/core/threads.h"
#include "attend/kernels/elementwise.h"

HWY_BEFORE_NAMESPACE();
namespace attend::kernels::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

constexpr std::int64_t kGrain = 16384;  // floats a thread should have at least

void AddTo(std::int64_t n, const float* x, float* y) {
  const hn::ScalableTag<float> d;
  const auto lanes = static_cast<std::int64_t>(hn::Lanes(d));
  parallel_for(n, kGrain, [&](std::int64_t begin, std::int64_t end) {
    std::int64_t i = begin;
    for (; i + lanes <= end; i += lanes) hn::StoreU(hn::Add(hn::LoadU(d, y + i), hn::LoadU(d, x + i)), d, y + i);
    for (; i < end; ++i) y[i] += x[i];
  });
}

}  // namespace attend::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace attend::kernels {

HWY_EXPORT(AddTo);
void add_to(std::int64_t n, const float* x, float* y) { HWY_DYNAMIC_DISPATCH(AddTo)(n, x, y); }

}  // namespace attend::kernels
#endif
