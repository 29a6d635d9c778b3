#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "attend/kernels/half.cpp"
#include "attend/kernels/foreach_target.h"  // IWYU pragma: keep

#include <hwy/highway.h>

#include <algorithm>

#include "attend/core/threads.h"
#include "attend/kernels/half.h"
#include "attend/kernels/loop-inl.h"
#include "attend/kernels/scratch.h"

HWY_BEFORE_NAMESPACE();
namespace attend::kernels::HWY_NAMESPACE {
namespace {

template <class Half>
void WidenNumbers(std::int64_t n, const Half* from, float* to) {
  parallel_for(n, 1 << 14, [&](std::int64_t begin, std::int64_t end) {
    ForVectors(end - begin, [&](auto at) ATTEND_BODY { at.Store(at.Load(from + begin), to + begin); });
  });
}

void Widen(std::int64_t n, HalfNumbers from, float* to) {
  from.bfloat16 ? WidenNumbers(n, reinterpret_cast<const hwy::bfloat16_t*>(from.data), to)
                : WidenNumbers(n, reinterpret_cast<const hwy::float16_t*>(from.data), to);
}

}  // namespace
}  // namespace attend::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace attend::kernels {

HWY_EXPORT(Widen);
void widen(std::int64_t n, HalfNumbers from, float* to) { HWY_DYNAMIC_DISPATCH(Widen)(n, from, to); }

void matmul(const MatmulShape& shape, const float* a, HalfNumbers b, float* c, const float* bias) {
  const auto stride = [](std::int64_t given, std::int64_t dense) { return given ? given : dense; };
  if (shape.m <= kFewRows && !UniformRows::active())
    return few_rows({shape.m, shape.n, shape.k, stride(shape.a_stride, shape.k), shape.k,
                     stride(shape.c_stride, shape.n), shape.accumulate},
                    a, b, c, bias);
  // A converted block stays in the cache until it has been multiplied. Few, large blocks suit oneDNN.
  constexpr std::int64_t kFloats = 1 << 20, kLeast = 512;
  const std::int64_t columns = std::clamp(kFloats / std::max<std::int64_t>(shape.k, 1), kLeast, shape.n + kLeast);
  const Scratch block(std::min(columns, shape.n) * shape.k);
  for (std::int64_t begin = 0; begin < shape.n; begin += columns) {
    MatmulShape part = shape;
    part.n = std::min(columns, shape.n - begin), part.c_stride = stride(shape.c_stride, shape.n);
    widen(part.n * shape.k, b + begin * shape.k, block.data);
    matmul(part, a, block.data, c + begin, bias ? bias + begin : nullptr);
  }
}

}  // namespace attend::kernels
#endif
