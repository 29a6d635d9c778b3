#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "attend/kernels/few_rows.cpp"
#include "attend/kernels/foreach_target.h"  // IWYU pragma: keep

#include <hwy/highway.h>

#include <algorithm>
#include <iterator>

#include "attend/core/threads.h"
#include "attend/kernels/few_rows.h"
#include "attend/kernels/gemm-inl.h"
#include "attend/kernels/totals-inl.h"

HWY_BEFORE_NAMESPACE();
namespace attend::kernels::HWY_NAMESPACE {
namespace {

// The sums that are held in registers: rows of x times rows of W, which come in fours.
constexpr int kMostSums = gemm::kVectors == 4 ? 24 : 12;  // of 32 registers, or of 16
constexpr int kMostRows = kMostSums / 4;
// The part of the rows' length that is worked on at a time, so that the rows of a tile fit the first cache.
constexpr std::int64_t kDepth = 1024;
// Rows of W that stay in the first cache while all rows of x pass by, and how far ahead memory is asked for.
constexpr std::int64_t kBlockFloats = 4 << 10;
constexpr std::int64_t kAheadFloats = 16 << 10;

// ForVectors with so few turns that the branch predictor foresees the last.
template <class Body>
HWY_INLINE void ForVectorsUnrolled(std::int64_t n, const Body& body) {
  ForVectorsByFour(n, [&](auto at, int /*turn*/) ATTEND_BODY { body(at); });
}

// y[i, j] for M rows of x and n rows of W.
template <int M>
HWY_NOINLINE void Rows(const FewRows& s, const float* HWY_RESTRICT x, const float* HWY_RESTRICT w, float* y,
                       const float* bias, const float* ahead, std::int64_t lines) {
  const Floats d;
  constexpr int kFours = M * 8 <= kMostSums ? 2 : 1;  // one row needs more sums, or it would wait for each
  constexpr int N = 4 * kFours;
  for (std::int64_t j = 0; j < s.n; j += N, w += N * s.w_stride) {
    if (ahead)
      for (int r = 0; r < N; ++r, ahead += s.w_stride)
        for (std::int64_t l = 0; l < lines; ++l) __builtin_prefetch(ahead + l * 16, 0, 2);
    FloatVector sum[M][kFours][4];
    ATTEND_UNROLL for (int i = 0; i < M; ++i) {
      ATTEND_UNROLL for (int r = 0; r < N; ++r) sum[i][r / 4][r % 4] = hn::Zero(d);
    }
    const int columns = static_cast<int>(std::min<std::int64_t>(N, s.n - j));
    const float* rows[N];  // the last one stands for those beyond, which are dropped
    ATTEND_UNROLL for (int r = 0; r < N; ++r) rows[r] = w + std::min(r, columns - 1) * s.w_stride;
    ForVectorsUnrolled(s.k, [&](auto at) ATTEND_BODY {
      FloatVector xs[M];
      ATTEND_UNROLL for (int i = 0; i < M; ++i) xs[i] = at.Load(x + i * s.x_stride);
      ATTEND_UNROLL for (int r = 0; r < N; ++r) {
        const FloatVector ws = at.Load(rows[r]);
        ATTEND_UNROLL for (int i = 0; i < M; ++i) {
          sum[i][r / 4][r % 4] = hn::MulAdd(xs[i], ws, sum[i][r / 4][r % 4]);
        }
      }
    });
    float* out = y + j;
    ATTEND_UNROLL for (int i = 0; i < M; ++i, out += s.y_stride) {
      ATTEND_UNROLL for (int f = 0; f < kFours; ++f) {
        Four totals = Totals(sum[i][f]);
        if (HWY_LIKELY(columns == N)) {
          if (bias) totals = AddFour(totals, LoadFour(bias + j + 4 * f));
          if (s.accumulate) totals = AddFour(totals, LoadFour(out + 4 * f));
          StoreFour(totals, out + 4 * f);
        } else {
          float all[4];
          StoreFour(totals, all);
          for (int r = 4 * f; r < std::min(columns, 4 * f + 4); ++r)
            out[r] = all[r - 4 * f] + (bias ? bias[j + r] : 0.f) + (s.accumulate ? out[r] : 0.f);
        }
      }
    }
  }
}

using RowsOf = void (*)(const FewRows&, const float*, const float*, float*, const float*, const float*, std::int64_t);

void FewRowsOf(const FewRows& s, const float* x, const float* w, float* y, const float* bias) {
  static constexpr RowsOf kRowsOf[] = {
      Rows<1>, Rows<2>, Rows<3>, Rows<std::min(4, kMostRows)>, Rows<std::min(5, kMostRows)>, Rows<kMostRows>};
  static_assert(kMostRows <= std::size(kRowsOf));
  const std::int64_t tiles = (s.m + kMostRows - 1) / kMostRows;
  const std::int64_t pieces = std::max<std::int64_t>((s.k + kDepth - 1) / kDepth, 1);
  const std::int64_t depth = std::max<std::int64_t>(((s.k + pieces - 1) / pieces + 15) / 16, 1) * 16;
  const std::int64_t block = std::max<std::int64_t>((tiles == 1 ? 4 : 1) * kBlockFloats / depth / 4, 1) * 4;
  // While a block of W is worked on, a later one is on its way from memory, some lines of each row with each tile.
  const std::int64_t ahead = std::max(block, kAheadFloats / depth);
  const std::int64_t lines = (depth / 16 + tiles - 1) / tiles;
  const std::int64_t worth_a_thread = 1 + (1 << 15) / (s.m * s.k + 1);
  parallel_for(s.n, (worth_a_thread + 15) / 16 * 16, [&](std::int64_t begin, std::int64_t end) {
    FewRows part = s;
    for (std::int64_t k = 0; k == 0 || k < s.k; k += depth) {
      part.k = std::min(depth, s.k - k);
      part.accumulate = s.accumulate || k > 0;
      for (std::int64_t j = begin; j < end; j += block) {
        part.n = std::min(block, end - j);
        const float* rows = w + j * s.w_stride + k;
        const float* next = j + ahead + block <= end ? rows + ahead * s.w_stride : nullptr;
        for (std::int64_t t = 0; t < tiles; ++t) {
          const std::int64_t first = s.m * t / tiles, count = s.m * (t + 1) / tiles - first;
          kRowsOf[count - 1](part, x + first * s.x_stride + k, rows, y + first * s.y_stride + j,
                             bias && k == 0 ? bias + j : nullptr, next ? next + t * lines * 16 : nullptr, lines);
        }
      }
    }
  });
}

}  // namespace
}  // namespace attend::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace attend::kernels {

HWY_EXPORT(FewRowsOf);

void few_rows(const FewRows& shape, const float* x, const float* w, float* y, const float* bias) {
  if (shape.m > 0 && shape.n > 0) HWY_DYNAMIC_DISPATCH(FewRowsOf)(shape, x, w, y, bias);
}

}  // namespace attend::kernels
#endif
