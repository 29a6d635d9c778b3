#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "attend/kernels/reduce.cpp"
#include "attend/kernels/foreach_target.h"  // IWYU pragma: keep

#include <hwy/highway.h>

#include <algorithm>
#include <cmath>
#include <cstring>

#include "attend/core/memory.h"
#include "attend/core/threads.h"
#include "attend/kernels/elementwise.h"
#include "attend/kernels/reduce.h"

HWY_BEFORE_NAMESPACE();
namespace attend::kernels::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;
namespace {

constexpr std::int64_t kStrip = 2048;         // columns at a time, so that the sums stay in the L1 cache
constexpr std::int64_t kPieceFloats = 32768;  // elements of one piece of a long reduction
constexpr std::int64_t kPieceRows = 512;      // maximum number of rows of a piece, to limit rounding errors

std::int64_t Pieces(std::int64_t n, std::int64_t size) { return (n + size - 1) / size; }

std::int64_t Length(const Middle& middle, std::int64_t o) { return middle.lengths ? middle.lengths[o] : middle.n; }

/// Σ x[0 … n).
float SumRow(std::int64_t n, const float* x) {
  const hn::ScalableTag<float> d;
  const auto lanes = static_cast<std::int64_t>(hn::Lanes(d));
  auto s0 = hn::Zero(d), s1 = s0, s2 = s0, s3 = s0;
  std::int64_t i = 0;
  for (; i + 4 * lanes <= n; i += 4 * lanes) {
    s0 = hn::Add(s0, hn::LoadU(d, x + i));
    s1 = hn::Add(s1, hn::LoadU(d, x + i + lanes));
    s2 = hn::Add(s2, hn::LoadU(d, x + i + 2 * lanes));
    s3 = hn::Add(s3, hn::LoadU(d, x + i + 3 * lanes));
  }
  for (; i + lanes <= n; i += lanes) s0 = hn::Add(s0, hn::LoadU(d, x + i));
  float sum = hn::GetLane(hn::SumOfLanes(d, hn::Add(hn::Add(s0, s1), hn::Add(s2, s3))));
  for (; i < n; ++i) sum += x[i];
  return sum;
}

/// y[0 … width) = the sum of `rows` rows of x, which are `stride` apart.
void SumRows(std::int64_t rows, std::int64_t width, std::int64_t stride, const float* x, float* y) {
  const hn::ScalableTag<float> d;
  const hn::CappedTag<float, 1> d1;
  const auto lanes = static_cast<std::int64_t>(hn::Lanes(d));
  std::memset(y, 0, static_cast<std::size_t>(width) * sizeof(float));
  const auto add_four = [&](auto tag, const float* at, float* to) {
    const auto low = hn::Add(hn::LoadU(tag, at), hn::LoadU(tag, at + stride));
    const auto high = hn::Add(hn::LoadU(tag, at + 2 * stride), hn::LoadU(tag, at + 3 * stride));
    hn::StoreU(hn::Add(hn::LoadU(tag, to), hn::Add(low, high)), tag, to);
  };
  std::int64_t row = 0;
  for (; row + 4 <= rows; row += 4, x += 4 * stride) {
    std::int64_t i = 0;
    for (; i + lanes <= width; i += lanes) add_four(d, x + i, y + i);
    for (; i < width; ++i) add_four(d1, x + i, y + i);
  }
  for (; row < rows; ++row, x += stride) {
    std::int64_t i = 0;
    for (; i + lanes <= width; i += lanes) hn::StoreU(hn::Add(hn::LoadU(d, y + i), hn::LoadU(d, x + i)), d, y + i);
    for (; i < width; ++i) y[i] += x[i];
  }
}

/// y = scale · sums, or y += scale · sums.
void Finish(std::int64_t width, const float* sums, float scale, bool accumulate, float* y) {
  for (std::int64_t i = 0; i < width; ++i) y[i] = accumulate ? y[i] + scale * sums[i] : scale * sums[i];
}

void SumMiddle(const Middle& middle, const float* x, float* y, Store store) {
  const std::int64_t outer = middle.outer, n = middle.n, inner = middle.inner;
  if (outer * inner == 0) return;
  // A piece is a block of rows of the middle dimension and a strip of columns. The pieces depend on the shape only.
  const std::int64_t strip = std::min(inner, kStrip), strips = Pieces(inner, strip);
  const std::int64_t most = inner == 1 ? kPieceFloats : kPieceRows;
  const std::int64_t piece_rows = std::clamp<std::int64_t>(kPieceFloats / strip, 1, most);
  const std::int64_t pieces = std::max<std::int64_t>(1, Pieces(n, piece_rows));
  const auto sum_piece = [&](std::int64_t o, std::int64_t p, std::int64_t column, std::int64_t width, float* sums) {
    const std::int64_t begin = p * piece_rows,
                       rows = std::clamp<std::int64_t>(Length(middle, o) - begin, 0, piece_rows);
    const float* at = x + (o * n + begin) * inner + column;
    if (inner == 1)
      *sums = SumRow(rows, at);
    else
      SumRows(rows, width, inner, at, sums);
  };
  const auto scale_of = [&](std::int64_t o) {
    return middle.mean ? store.scale / static_cast<float>(std::max<std::int64_t>(Length(middle, o), 1)) : store.scale;
  };

  const Block scratch =
      pieces > 1 ? allocate(static_cast<std::size_t>(outer * pieces * inner) * sizeof(float)) : Block();
  float* partial = reinterpret_cast<float*>(scratch.get());  // [outer, pieces, inner]
  const std::int64_t task_floats = std::min(n, piece_rows) * strip;
  parallel_for(outer * pieces * strips, std::max<std::int64_t>(1, 16384 / std::max<std::int64_t>(task_floats, 1)),
               [&](std::int64_t task, std::int64_t end) {
                 HWY_ALIGN float sums[kStrip];
                 for (; task < end; ++task) {
                   const std::int64_t o = task / (pieces * strips), p = task / strips % pieces,
                                      column = task % strips * strip;
                   const std::int64_t width = std::min(strip, inner - column);
                   if (pieces > 1) {
                     sum_piece(o, p, column, width, partial + (o * pieces + p) * inner + column);
                   } else {
                     sum_piece(o, p, column, width, sums);
                     Finish(width, sums, scale_of(o), store.accumulate, y + o * inner + column);
                   }
                 }
               });
  if (pieces == 1) return;
  parallel_for(outer * strips, 1, [&](std::int64_t task, std::int64_t end) {
    HWY_ALIGN float sums[kStrip];
    for (; task < end; ++task) {
      const std::int64_t o = task / strips, column = task % strips * strip, width = std::min(strip, inner - column);
      SumRows(pieces, width, inner, partial + o * pieces * inner + column, sums);
      Finish(width, sums, scale_of(o), store.accumulate, y + o * inner + column);
    }
  });
}

void SpreadMiddle(const Middle& middle, const float* dy, float* dx, bool accumulate) {
  const hn::ScalableTag<float> d;
  const std::int64_t outer = middle.outer, n = middle.n, inner = middle.inner;
  if (outer * n * inner == 0) return;
  const auto lanes = static_cast<std::int64_t>(hn::Lanes(d));
  // Each thread gets a range of whole rows with a similar number of elements.
  parallel_for(outer * n, std::max<std::int64_t>(1, 16384 / inner), [&](std::int64_t begin, std::int64_t end) {
    while (begin < end) {
      const std::int64_t o = begin / n, t = begin % n, length = Length(middle, o);
      const std::int64_t rows = std::min(n - t, end - begin), live = std::clamp<std::int64_t>(length - t, 0, rows);
      const float scale = middle.mean ? 1.f / static_cast<float>(std::max<std::int64_t>(length, 1)) : 1.f;
      const float* from = dy + o * inner;
      float* to = dx + begin * inner;
      if (inner == 1) {
        const float value = scale * *from;
        for (std::int64_t i = 0; i < live; ++i) to[i] = accumulate ? to[i] + value : value;
      } else {
        for (std::int64_t row = 0; row < live; ++row) {
          float* at = to + row * inner;
          std::int64_t i = 0;
          for (; i + lanes <= inner; i += lanes) {
            const auto value = hn::Mul(hn::LoadU(d, from + i), hn::Set(d, scale));
            hn::StoreU(accumulate ? hn::Add(hn::LoadU(d, at + i), value) : value, d, at + i);
          }
          for (; i < inner; ++i) at[i] = accumulate ? at[i] + scale * from[i] : scale * from[i];
        }
      }
      if (!accumulate && rows > live)
        std::memset(to + live * inner, 0, static_cast<std::size_t>((rows - live) * inner) * sizeof(float));
      begin += rows;
    }
  });
}

/// The maximum of n numbers, and its first index. NaN is treated as the largest number.
void MaxRow(std::int64_t n, const float* x, float* y, std::int32_t* index) {
  const hn::ScalableTag<float> d;
  const auto lanes = static_cast<std::int64_t>(hn::Lanes(d));
  float best = x[0];
  bool nan = std::isnan(best);
  std::int64_t i = 0;
  if (n >= lanes) {
    auto most = hn::LoadU(d, x);
    auto nans = hn::IsNaN(most);
    for (i = lanes; i + lanes <= n; i += lanes) {
      const auto value = hn::LoadU(d, x + i);
      nans = hn::Or(nans, hn::IsNaN(value));
      most = hn::Max(most, value);
    }
    best = hn::GetLane(hn::MaxOfLanes(d, most));
    nan = !hn::AllFalse(d, nans);
  }
  for (; i < n; ++i) {
    nan |= std::isnan(x[i]);
    best = std::max(best, x[i]);
  }
  const float* found = nan ? std::find_if(x, x + n, [](float v) { return std::isnan(v); }) : std::find(x, x + n, best);
  *y = *found;
  *index = static_cast<std::int32_t>(found - x);
}

void MaxMiddle(const Middle& middle, const float* x, float* y, std::int32_t* index) {
  const hn::ScalableTag<float> d;
  const hn::Rebind<std::int32_t, decltype(d)> di;
  const std::int64_t outer = middle.outer, n = middle.n, inner = middle.inner;
  if (outer * inner == 0) return;
  const auto lanes = static_cast<std::int64_t>(hn::Lanes(d));
  const std::int64_t strip = std::min(inner, kStrip), strips = Pieces(inner, strip);
  parallel_for(
      outer * strips, std::max<std::int64_t>(1, 16384 / std::max<std::int64_t>(n * strip, 1)),
      [&](std::int64_t task, std::int64_t end) {
        for (; task < end; ++task) {
          const std::int64_t o = task / strips, column = task % strips * strip, width = std::min(strip, inner - column);
          const std::int64_t length = Length(middle, o);
          const float* from = x + o * n * inner + column;
          float* best = y + o * inner + column;
          std::int32_t* where = index + o * inner + column;
          if (length == 0) {
            std::fill_n(best, width, 0.f);
            std::fill_n(where, width, -1);
            continue;
          }
          if (inner == 1) {
            MaxRow(length, from, best, where);
            continue;
          }
          std::copy_n(from, width, best);
          std::fill_n(where, width, 0);
          for (std::int64_t t = 1; t < length; ++t) {
            const float* row = from + t * inner;
            const auto now = static_cast<std::int32_t>(t);
            std::int64_t i = 0;
            for (; i + lanes <= width; i += lanes) {
              const auto value = hn::LoadU(d, row + i), old = hn::LoadU(d, best + i);
              // True if the value is larger, or is the first NaN.
              const auto better = hn::And(hn::Not(hn::Le(value, old)), hn::Eq(old, old));
              hn::StoreU(hn::IfThenElse(better, value, old), d, best + i);
              const auto at = hn::IfThenElse(hn::RebindMask(di, better), hn::Set(di, now), hn::LoadU(di, where + i));
              hn::StoreU(at, di, where + i);
            }
            for (; i < width; ++i)
              if (!(row[i] <= best[i]) && !std::isnan(best[i])) best[i] = row[i], where[i] = now;
          }
        }
      });
}

}  // namespace
}  // namespace attend::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace attend::kernels {

HWY_EXPORT(SumMiddle);
HWY_EXPORT(SpreadMiddle);
HWY_EXPORT(MaxMiddle);

void sum_middle(const Middle& middle, const float* x, float* y, Store store) {
  HWY_DYNAMIC_DISPATCH(SumMiddle)(middle, x, y, store);
}
void spread_middle(const Middle& middle, const float* dy, float* dx, bool accumulate) {
  HWY_DYNAMIC_DISPATCH(SpreadMiddle)(middle, dy, dx, accumulate);
}
void max_middle(const Middle& middle, const float* x, float* y, std::int32_t* index) {
  HWY_DYNAMIC_DISPATCH(MaxMiddle)(middle, x, y, index);
}
void max_middle_backward(const Middle& middle, const std::int32_t* index, const float* dy, float* dx, bool accumulate) {
  const std::int64_t outer = middle.outer, n = middle.n, inner = middle.inner;
  if (!accumulate) zero(outer * n * inner, dx);
  if (inner == 0) return;
  parallel_for(outer, std::max<std::int64_t>(1, 16384 / inner), [&](std::int64_t o, std::int64_t end) {
    for (; o < end; ++o)
      for (std::int64_t i = 0; i < inner; ++i)
        if (const std::int64_t t = index[o * inner + i]; t >= 0) dx[(o * n + t) * inner + i] += dy[o * inner + i];
  });
}

}  // namespace attend::kernels
#endif
