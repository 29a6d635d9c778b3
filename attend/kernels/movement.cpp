#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "attend/kernels/movement.cpp"
#include "attend/kernels/foreach_target.h"  // IWYU pragma: keep

#include <hwy/highway.h>

#include <algorithm>
#include <cstring>

#include "attend/core/threads.h"
#include "attend/kernels/elementwise.h"
#include "attend/kernels/id_groups.h"
#include "attend/kernels/movement.h"

HWY_BEFORE_NAMESPACE();
namespace attend::kernels::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;
namespace {

/// to[0 … n) = scale · from, or += if `accumulate`.
template <bool accumulate>
HWY_INLINE void MoveRow(std::int64_t n, const float* from, float scale, float* to) {
  const hn::ScalableTag<float> d;
  const auto lanes = static_cast<std::int64_t>(hn::Lanes(d));
  const auto factor = hn::Set(d, scale);
  std::int64_t i = 0;
  for (; i + lanes <= n; i += lanes) {
    const auto value = hn::Mul(hn::LoadU(d, from + i), factor);
    hn::StoreU(accumulate ? hn::Add(hn::LoadU(d, to + i), value) : value, d, to + i);
  }
  for (; i < n; ++i) to[i] = accumulate ? to[i] + scale * from[i] : scale * from[i];
}

void AddRows(std::int64_t rows, std::int64_t width, const float* from, std::int64_t from_stride, float* to,
             std::int64_t to_stride) {
  const std::int64_t grain = std::max<std::int64_t>(1, 16384 / std::max<std::int64_t>(width, 1));
  parallel_for(rows, grain, [&](std::int64_t row, std::int64_t end) {
    for (; row < end; ++row) MoveRow<true>(width, from + row * from_stride, 1.f, to + row * to_stride);
  });
}

void GatherRows(const RowPick& pick, const float* x, float* y, float scale) {
  const std::int64_t grain = std::max<std::int64_t>(1, 16384 / std::max<std::int64_t>(pick.inner, 1));
  parallel_for(pick.outer * pick.picks, grain, [&](std::int64_t row, std::int64_t end) {
    for (; row < end; ++row) {
      const std::int64_t o = row / pick.picks, id = pick.ids[pick.shared ? row % pick.picks : row];
      MoveRow<false>(pick.inner, x + (o * pick.n + id) * pick.inner, scale, y + row * pick.inner);
    }
  });
}

void ScatterRows(const RowPick& pick, const float* dy, float* dx, float scale, std::int32_t skip) {
  // Tasks are divided by outer index, by strips of columns and by id, so that no two tasks write the same element. Each
  // element adds its terms in the order of k, whatever the number of tasks. Every task reads all ids, which is cheap
  // compared to the rows.
  constexpr std::int64_t kStripFloats = 128;
  const std::int64_t strips = std::max<std::int64_t>(1, pick.inner / kStripFloats);
  const std::int64_t work = pick.picks * pick.inner / strips;
  const std::int64_t groups = id_groups(work, 16384);
  const auto task_of = [&](std::int64_t task) {
    const std::int64_t o = task / (strips * groups), strip = task / groups % strips, group = task % groups;
    const std::int64_t begin = pick.inner * strip / strips, end = pick.inner * (strip + 1) / strips;
    const std::int32_t* ids = pick.ids + (pick.shared ? 0 : o * pick.picks);
    for (std::int64_t k = 0; k < pick.picks; ++k) {
      const std::int32_t id = ids[k];
      if (id == skip || (id & (groups - 1)) != group) continue;
      const float* from = dy + (o * pick.picks + k) * pick.inner;
      MoveRow<true>(end - begin, from + begin, scale, dx + (o * pick.n + id) * pick.inner + begin);
    }
  };
  const std::int64_t tasks = pick.outer * strips * groups;
  if (pick.outer * pick.picks * pick.inner <= 16384)
    for (std::int64_t task = 0; task < tasks; ++task) task_of(task);
  else
    parallel_tasks(tasks, task_of);
}

}  // namespace
}  // namespace attend::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace attend::kernels {

HWY_EXPORT(AddRows);
HWY_EXPORT(GatherRows);
HWY_EXPORT(ScatterRows);

void copy_rows(std::int64_t rows, std::int64_t bytes, const std::byte* from, std::int64_t from_stride, std::byte* to,
               std::int64_t to_stride) {
  // Long rows are split into pieces, so that all threads have work even if there is only one row.
  constexpr std::int64_t kPiece = 65536;
  const std::int64_t pieces = std::max<std::int64_t>(1, bytes / kPiece);
  const std::int64_t grain = std::max<std::int64_t>(1, kPiece / std::max<std::int64_t>(bytes, 1));
  parallel_for(rows * pieces, grain, [&](std::int64_t task, std::int64_t end) {
    for (; task < end; ++task) {
      const std::int64_t row = task / pieces, piece = task % pieces;
      const std::int64_t first = bytes * piece / pieces, last = bytes * (piece + 1) / pieces;
      std::memcpy(to + row * to_stride + first, from + row * from_stride + first,
                  static_cast<std::size_t>(last - first));
    }
  });
}

void add_rows(std::int64_t rows, std::int64_t width, const float* from, std::int64_t from_stride, float* to,
              std::int64_t to_stride) {
  HWY_DYNAMIC_DISPATCH(AddRows)(rows, width, from, from_stride, to, to_stride);
}

void gather_rows(const RowPick& pick, const float* x, float* y, float scale) {
  HWY_DYNAMIC_DISPATCH(GatherRows)(pick, x, y, scale);
}

void scatter_rows(const RowPick& pick, const float* dy, float* dx, bool accumulate, float scale, std::int32_t skip) {
  if (!accumulate) zero(pick.outer * pick.n * pick.inner, dx);
  HWY_DYNAMIC_DISPATCH(ScatterRows)(pick, dy, dx, scale, skip);
}

void transpose(const Swap& swap, const float* x, float* y, bool accumulate) {
  constexpr std::int64_t kBlock = 16;  // 16 floats are a cache line, so every line is read once and written once
  const std::int64_t m = swap.m, b = swap.b, n = swap.n, c = swap.c;
  if (swap.a * m * b * n * c == 0) return;
  const std::int64_t m_blocks = (m + kBlock - 1) / kBlock;
  const std::int64_t grain = std::max<std::int64_t>(1, 16384 / (kBlock * n * c));
  parallel_for(swap.a * b * m_blocks, grain, [&](std::int64_t task, std::int64_t end) {
    for (; task < end; ++task) {
      const std::int64_t outer = task / (b * m_blocks), middle = task / m_blocks % b, m0 = task % m_blocks * kBlock;
      const std::int64_t m1 = std::min(m, m0 + kBlock);
      for (std::int64_t n0 = 0; n0 < n; n0 += kBlock)
        for (std::int64_t j = n0, n1 = std::min(n, n0 + kBlock); j < n1; ++j)
          for (std::int64_t i = m0; i < m1; ++i) {
            const float* from = x + (((outer * m + i) * b + middle) * n + j) * c;
            float* to = y + (((outer * n + j) * b + middle) * m + i) * c;
            if (c == 1)
              *to = accumulate ? *to + *from : *from;
            else if (accumulate)
              for (std::int64_t k = 0; k < c; ++k) to[k] += from[k];
            else
              std::memcpy(to, from, static_cast<std::size_t>(c) * sizeof(float));
          }
    }
  });
}

}  // namespace attend::kernels
#endif
