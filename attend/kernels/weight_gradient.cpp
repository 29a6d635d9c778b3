#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "attend/kernels/weight_gradient.cpp"
#include "attend/kernels/foreach_target.h"  // IWYU pragma: keep
#include <hwy/highway.h>

#include <algorithm>

#include "attend/core/threads.h"
#include "attend/kernels/gemm-inl.h"
#include "attend/kernels/scratch.h"
#include "attend/kernels/weight_gradient.h"

HWY_BEFORE_NAMESPACE();
namespace attend::kernels::HWY_NAMESPACE {
namespace {

constexpr std::int64_t kDepth = 128;  // rows of the batch at a time: a panel of x stays in the first-level cache
constexpr std::int64_t kBand = 48;    // rows of dw that a task takes: its part of dy stays there too

void Gradient(const WeightGradient& shape, const float* dy, const float* x, float* dw) {
  const std::int64_t m = shape.m, n = shape.n, rows = shape.rows;
  const std::int64_t dy_stride = shape.dy_stride ? shape.dy_stride : m, x_stride = shape.x_stride ? shape.x_stride : n;
  if (rows == 0 && !shape.accumulate) std::fill_n(dw, m * n, 0.f);

  // Each band of dw reads all of x, so it is packed once, in pieces of kDepth rows.
  const std::int64_t width = PackedSize(1, n);
  const Scratch packed(rows * width);
  parallel_tasks((rows + kDepth - 1) / kDepth, [&](std::int64_t piece) {
    const std::int64_t k = piece * kDepth;
    Pack(std::min(kDepth, rows - k), n, x + k * x_stride, x_stride, packed.data + k * width);
  });

  parallel_tasks((m + kBand - 1) / kBand, [&](std::int64_t band) {
    const std::int64_t first = band * kBand, count = std::min(kBand, m - first);
    HWY_ALIGN float
        part[kDepth * kBand];  // of dy: where its rows are a power of two apart, they would share cache lines
    for (std::int64_t k = 0; k < rows; k += kDepth) {
      const std::int64_t depth = std::min(kDepth, rows - k);
      for (std::int64_t r = 0; r < depth; ++r) std::copy_n(dy + (k + r) * dy_stride + first, count, part + r * kBand);
      GemmAtPacked(count, n, depth, part, kBand, packed.data + k * width, dw + first * n, n, shape.accumulate || k > 0);
    }
  });
}

}  // namespace
}  // namespace attend::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace attend::kernels {

HWY_EXPORT(Gradient);
void weight_gradient(const WeightGradient& shape, const float* dy, const float* x, float* dw) {
  HWY_DYNAMIC_DISPATCH(Gradient)(shape, dy, x, dw);
}

}  // namespace attend::kernels
#endif
