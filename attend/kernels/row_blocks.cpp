#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "attend/kernels/row_blocks.cpp"
#include "attend/kernels/foreach_target.h"  // IWYU pragma: keep

#include <hwy/highway.h>

#include <algorithm>

#include "attend/core/threads.h"
#include "attend/kernels/gemm-inl.h"
#include "attend/kernels/row_blocks.h"
#include "attend/kernels/scratch.h"
#include "attend/kernels/totals-inl.h"

HWY_BEFORE_NAMESPACE();
namespace attend::kernels::HWY_NAMESPACE {
namespace {

// The size of a block of packed rows. It stays in the L2 cache while the weights are read.
constexpr std::int64_t kMostRows = 128, kMostDepth = 768;
// Rows of W that are processed before their sums are stored. The sums are transposed, in blocks of 4 × 4.
constexpr std::int64_t kStrip = 2 * kGemmRows;
static_assert(kStrip % 4 == 0 && kMostRows % kGemmWidth == 0);

// sums[j, i] = W[j] · x[i] for R rows of W and N vectors of packed rows of x. Also prefetches the row `next` of W.
template <int R, int N>
HWY_NOINLINE void Tile(std::int64_t k, const float* HWY_RESTRICT w, std::int64_t w_stride,
                       const float* HWY_RESTRICT panel, float* HWY_RESTRICT sums, const float* next) {
  constexpr int kTurns = 4;
  const Floats d;
  FloatVector sum[R][N];
  ATTEND_UNROLL for (int j = 0; j < R; ++j) { ATTEND_UNROLL for (int v = 0; v < N; ++v) sum[j][v] = hn::Zero(d); }
  const auto add = [&](std::int64_t p) ATTEND_BODY {
    FloatVector xs[N];
    ATTEND_UNROLL for (int v = 0; v < N; ++v) xs[v] = hn::LoadU(d, panel + p * kGemmWidth + v * gemm::kLanes);
    ATTEND_UNROLL for (int j = 0; j < R; ++j) {
      const FloatVector ws = hn::Set(d, w[j * w_stride + p]);
      ATTEND_UNROLL for (int v = 0; v < N; ++v) sum[j][v] = hn::MulAdd(ws, xs[v], sum[j][v]);
    }
  };
  std::int64_t p = 0;
  for (; p + kTurns <= k; p += kTurns) {
    __builtin_prefetch(next + p, 0, 2);
    ATTEND_UNROLL for (int turn = 0; turn < kTurns; ++turn) add(p + turn);
  }
  for (; p < k; ++p) add(p);
  ATTEND_UNROLL for (int j = 0; j < R; ++j) {
    ATTEND_UNROLL for (int v = 0; v < N; ++v) hn::StoreU(sum[j][v], d, sums + j * kMostRows + v * gemm::kLanes);
  }
}

using TileFunction = void (*)(std::int64_t, const float*, std::int64_t, const float*, float*, const float*);
template <int N>
constexpr TileFunction kTilesOf[] = {Tile<1, N>, Tile<2, N>, Tile<3, N>, Tile<4, N>, Tile<5, N>, Tile<6, N>};
static_assert(kGemmRows == 6 && gemm::kVectors <= 4);
constexpr const TileFunction* kTiles[] = {kTilesOf<1>, kTilesOf<std::min(2, gemm::kVectors)>,
                                          kTilesOf<std::min(3, gemm::kVectors)>, kTilesOf<gemm::kVectors>};

// sums[j, i] = W[j] · x[i] for up to kStrip rows of W and all packed rows of a block. `more`: another strip of rows
// follows. Also prefetches the elements of y to which the sums will be written.
void Strip(std::int64_t strip, std::int64_t rows, std::int64_t k, const float* w, std::int64_t w_stride,
           const float* packed, float* sums, bool more, const float* y, std::int64_t y_stride) {
  // Rows of W that are a multiple of a page apart map to the same sets of the L1 cache, so they are copied.
  constexpr std::int64_t kCopyStride = kMostDepth + 16;
  HWY_ALIGN float copy[kGemmRows * kCopyStride];
  const bool copied = w_stride % 1024 == 0;
  for (std::int64_t j = 0; j < strip; j += kGemmRows, w += kGemmRows * w_stride, sums += kGemmRows * kMostRows) {
    const std::int64_t count = std::min(kGemmRows, strip - j);
    for (std::int64_t r = 0; copied && r < count; ++r) std::copy_n(w + r * w_stride, k, copy + r * kCopyStride);
    for (std::int64_t i = 0, panel = 0; i < rows; i += kGemmWidth, ++panel) {
      const std::int64_t vectors = (std::min(kGemmWidth, rows - i) + gemm::kLanes - 1) / gemm::kLanes;
      const std::int64_t next = more ? kGemmRows + panel % kGemmRows : 0;
      if (j + kGemmRows >= strip)
        for (std::int64_t r = i; r < std::min(i + kGemmWidth, rows); ++r) __builtin_prefetch(y + r * y_stride, 1, 2);
      kTiles[vectors - 1][count - 1](k, copied ? copy : w, copied ? kCopyStride : w_stride, packed + i * k, sums + i,
                                     w + next * w_stride);
    }
  }
}

// y[i, j] (=|+=) sums[j, i] + bias[j] for up to kStrip columns. Each row of y is accessed only once, because its rows
// often map to the same sets of the cache.
void StoreTurned(std::int64_t rows, std::int64_t columns, const float* HWY_RESTRICT sums, float* HWY_RESTRICT y,
                 std::int64_t y_stride, const float* bias, bool accumulate) {
  HWY_ALIGN float biases[kStrip] = {};
  if (bias) std::copy_n(bias, columns, biases);
  for (std::int64_t i = 0; i < rows; i += 4, y += 4 * y_stride) {
    const std::int64_t high = std::min<std::int64_t>(4, rows - i);
    for (std::int64_t j = 0; j < columns; j += 4) {
      const std::int64_t wide = std::min<std::int64_t>(4, columns - j);
      HWY_ALIGN float turned[4][4];
      gemm::Transpose4x4(sums + j * kMostRows + i, kMostRows, turned[0], 4);
      float* to = y + j;
      for (std::int64_t r = 0; r < high; ++r, to += y_stride) {
        Four sum = AddFour(LoadFour(turned[r]), LoadFour(biases + j));
        if (HWY_LIKELY(wide == 4)) {
          if (accumulate) sum = AddFour(sum, LoadFour(to));
          StoreFour(sum, to);
        } else {
          StoreFour(sum, turned[r]);
          for (std::int64_t c = 0; c < wide; ++c) to[c] = turned[r][c] + (accumulate ? to[c] : 0.f);
        }
      }
    }
  }
}

// Divides a length into parts of similar size. All sizes except the last are multiples of `unit`.
struct Parts {
  std::int64_t whole, size, count;
  Parts(std::int64_t length, std::int64_t most, std::int64_t unit) : whole(length) {
    const std::int64_t least = std::max<std::int64_t>((length + most - 1) / most, 1);
    size = std::max<std::int64_t>(((length + least - 1) / least + unit - 1) / unit, 1) * unit;
    count = std::max<std::int64_t>((length + size - 1) / size, 1);
  }
  std::int64_t Begin(std::int64_t i) const { return i * size; }
  std::int64_t Length(std::int64_t i) const { return std::min(size, whole - i * size); }
};

void RowBlocks(const FewRows& s, const float* x, const float* w, float* y, const float* bias) {
  const Parts blocks(s.m, kMostRows, kGemmWidth), depths(s.k, kMostDepth, 16);
  const std::int64_t room = blocks.size * depths.size, panels = blocks.size / kGemmWidth;
  const Scratch packed(blocks.count * depths.count * room);
  const auto packed_rows = [&](std::int64_t block, std::int64_t depth) {
    return packed.data + (block * depths.count + depth) * room;
  };
  parallel_for(blocks.count * depths.count * panels, 2, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t i = begin; i < end; ++i) {
      const std::int64_t block = i / panels / depths.count, depth = i / panels % depths.count;
      const std::int64_t row = blocks.Begin(block) + i % panels * kGemmWidth, k = depths.Length(depth);
      if (row < s.m)
        PackTransposed(std::min(kGemmWidth, s.m - row), k, x + row * s.x_stride + depths.Begin(depth), s.x_stride,
                       packed_rows(block, depth) + i % panels * kGemmWidth * k);
    }
  });
  // There are many tasks, because other processes may slow down some of the cores. The blocks of one part are
  // consecutive tasks, while its weights are in the cache.
  const Parts columns(s.n, std::max(s.n / (16 * threads()), 4 * kStrip), kStrip);
  parallel_tasks(columns.count * blocks.count, [&](std::int64_t task) {
    const std::int64_t block = task % blocks.count, part = task / blocks.count;
    const std::int64_t end = columns.Begin(part) + columns.Length(part);
    HWY_ALIGN float sums[kStrip * kMostRows];
    for (std::int64_t depth = 0; depth < depths.count; ++depth)
      for (std::int64_t j = columns.Begin(part); j < end; j += kStrip) {
        const std::int64_t strip = std::min(kStrip, end - j), rows = blocks.Length(block);
        float* to = y + blocks.Begin(block) * s.y_stride + j;
        Strip(strip, rows, depths.Length(depth), w + j * s.w_stride + depths.Begin(depth), s.w_stride,
              packed_rows(block, depth), sums, j + 2 * kStrip <= s.n, to, s.y_stride);
        StoreTurned(rows, strip, sums, to, s.y_stride, bias && depth == 0 ? bias + j : nullptr,
                    s.accumulate || depth > 0);
      }
  });
}

}  // namespace
}  // namespace attend::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace attend::kernels {

HWY_EXPORT(RowBlocks);

void row_blocks(const FewRows& shape, const float* x, const float* w, float* y, const float* bias) {
  if (shape.m > 0 && shape.n > 0) HWY_DYNAMIC_DISPATCH(RowBlocks)(shape, x, w, y, bias);
}

}  // namespace attend::kernels
#endif
