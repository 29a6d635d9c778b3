#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "attend/kernels/elementwise.cpp"
#include "attend/kernels/foreach_target.h"  // IWYU pragma: keep

#include <hwy/highway.h>

#include <cstring>

#include "attend/core/threads.h"
#include "attend/kernels/elementwise.h"
#include "attend/kernels/math-inl.h"

HWY_BEFORE_NAMESPACE();
namespace attend::kernels::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;
namespace {

constexpr std::int64_t kGrain = 16384;  // minimum number of floats for each thread

/// y[i] = f(d, x[i], y[i]), for whole vectors and then for the remaining elements.
template <typename F>
void Map(std::int64_t n, const float* x, float* y, const F& f) {
  parallel_for(n, kGrain, [&](std::int64_t begin, std::int64_t end) {
    const hn::ScalableTag<float> d;
    const hn::CappedTag<float, 1> d1;
    const auto lanes = static_cast<std::int64_t>(hn::Lanes(d));
    std::int64_t i = begin;
    for (; i + lanes <= end; i += lanes) hn::StoreU(f(d, hn::LoadU(d, x + i), y + i), d, y + i);
    for (; i < end; ++i) hn::StoreU(f(d1, hn::LoadU(d1, x + i), y + i), d1, y + i);
  });
}

void AddTo(std::int64_t n, const float* x, float* y) {
  Map(n, x, y, [](auto d, auto x_i, const float* y_i) { return hn::Add(hn::LoadU(d, y_i), x_i); });
}

void Affine(std::int64_t n, const float* x, float scale, float shift, float* y, bool accumulate) {
  if (accumulate)
    Map(n, x, y, [=](auto d, auto x_i, const float* y_i) {
      return hn::Add(hn::LoadU(d, y_i), hn::MulAdd(hn::Set(d, scale), x_i, hn::Set(d, shift)));
    });
  else
    Map(n, x, y, [=](auto d, auto x_i, const float*) { return hn::MulAdd(hn::Set(d, scale), x_i, hn::Set(d, shift)); });
}

void RunUnary(Unary f, std::int64_t n, const float* x, float* y) {
  switch (f) {
    case Unary::exp:
      return Map(n, x, y, [](auto d, auto x_i, const float*) { return Exp(d, x_i); });
    case Unary::log:
      return Map(n, x, y, [](auto d, auto x_i, const float*) { return Log(d, x_i); });
    case Unary::sqrt:
      return Map(n, x, y, [](auto, auto x_i, const float*) { return hn::Sqrt(x_i); });
    case Unary::square:
      return Map(n, x, y, [](auto, auto x_i, const float*) { return hn::Mul(x_i, x_i); });
  }
}

}  // namespace
}  // namespace attend::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace attend::kernels {

HWY_EXPORT(AddTo);
HWY_EXPORT(Affine);
HWY_EXPORT(RunUnary);

void add_to(std::int64_t n, const float* x, float* y) { HWY_DYNAMIC_DISPATCH(AddTo)(n, x, y); }
void affine(std::int64_t n, const float* x, float scale, float shift, float* y, bool accumulate) {
  HWY_DYNAMIC_DISPATCH(Affine)(n, x, scale, shift, y, accumulate);
}
void unary(Unary f, std::int64_t n, const float* x, float* y) { HWY_DYNAMIC_DISPATCH(RunUnary)(f, n, x, y); }

void zero(std::int64_t n, float* y) {
  parallel_for(n, 65536, [=](std::int64_t begin, std::int64_t end) {
    std::memset(y + begin, 0, static_cast<std::size_t>(end - begin) * sizeof(float));
  });
}

}  // namespace attend::kernels
#endif
