#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "attend/kernels/weight_gradient.cpp"
#include "attend/kernels/foreach_target.h"  // IWYU pragma: keep
#include <hwy/highway.h>

#include <algorithm>
#include <vector>

#include "attend/core/threads.h"
#include "attend/kernels/gemm-inl.h"
#include "attend/kernels/matmul.h"
#include "attend/kernels/scratch.h"
#include "attend/kernels/weight_gradient.h"

HWY_BEFORE_NAMESPACE();
namespace attend::kernels::HWY_NAMESPACE {
namespace {

constexpr std::int64_t kDepth = 192;    // rows of the batch at a time, so that a panel of x stays in the L1 cache
constexpr std::int64_t kBand = 36;      // rows of dw of one task, so that its part of dy stays in the L1 cache too
constexpr std::int64_t kColumns = 256;  // maximum columns of dw of one task: its part of x stays in the L2 cache
constexpr std::int64_t kTasks = 12;     // minimum number of tasks, if dw is large enough

void Gradient(const WeightGradient& shape, std::span<const BatchRows> pieces, float* dw) {
  const std::int64_t m = shape.m, n = shape.n;
  std::vector<BatchRows> parts;  // the pieces, divided into at most kDepth rows each
  std::int64_t rows = 0;
  for (const BatchRows& piece : pieces) {
    for (std::int64_t k = 0; k < piece.rows; k += kDepth)
      parts.push_back({std::min(kDepth, piece.rows - k), piece.dy + k * m, piece.x + k * n});
    rows += piece.rows;
  }
  if (rows == 0 && !shape.accumulate) std::fill_n(dw, m * n, 0.f);

  // x is packed once, because each band of dw reads all of it.
  const std::int64_t width = PackedSize(1, n);
  const Scratch packed(rows * width);
  std::vector<float*> panels;
  for (float* panel = packed.data; const BatchRows& part : parts) {
    panels.push_back(panel);
    panel += part.rows * width;
  }
  const auto count_of = [](const auto& list) { return static_cast<std::int64_t>(list.size()); };
  parallel_tasks(count_of(parts), [&](std::int64_t task) {
    const auto i = static_cast<std::size_t>(task);
    Pack(parts[i].rows, n, parts[i].x, n, panels[i]);
  });

  // A task computes a block of dw. There should be enough tasks to keep all threads busy.
  const std::int64_t bands = (m + kBand - 1) / kBand;
  std::int64_t columns = kColumns;
  const auto blocks = [&] { return (n + columns - 1) / columns; };
  while (bands * blocks() < kTasks && columns > kGemmWidth) columns /= 2;
  parallel_tasks(bands * blocks(), [&](std::int64_t task) {
    const std::int64_t first = task % bands * kBand, count = std::min(kBand, m - first);
    const std::int64_t begin = task / bands * columns, wide = std::min(columns, n - begin);
    // A copy of a part of dy. Without it, rows that are a power of two apart would map to the same sets of the cache.
    HWY_ALIGN float copied[kDepth * kBand];
    for (std::size_t i = 0; i < parts.size(); ++i) {
      const auto& [depth, dy, x] = parts[i];
      for (std::int64_t r = 0; r < depth; ++r) std::copy_n(dy + r * m + first, count, copied + r * kBand);
      GemmAtPacked(count, wide, depth, copied, kBand, panels[i] + begin * depth, dw + first * n + begin, n,
                   shape.accumulate || i > 0);
    }
  });
}

}  // namespace
}  // namespace attend::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace attend::kernels {

/// Up to this number of columns, or of elements, of dw, this kernel is faster than oneDNN, which is slow for a small
/// result of many rows, in particular if the row stride is a power of two.
constexpr std::int64_t kFewColumns = 256, kFewResults = std::int64_t{1} << 18;

HWY_EXPORT(Gradient);
void weight_gradient(const WeightGradient& shape, std::span<const BatchRows> pieces, float* dw) {
  if (pieces.size() == 1 && shape.n > kFewColumns && shape.m * shape.n > kFewResults) {
    const auto& [rows, dy, x] = pieces.front();
    return matmul({.m = shape.m, .n = shape.n, .k = rows, .transpose_a = true, .accumulate = shape.accumulate}, dy, x,
                  dw);
  }
  HWY_DYNAMIC_DISPATCH(Gradient)(shape, pieces, dw);
}

}  // namespace attend::kernels
#endif
