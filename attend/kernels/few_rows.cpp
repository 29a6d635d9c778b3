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
constexpr std::int64_t kAheadFloats = 8 << 10;

// Rows of W that will be wanted later: every step-th of those that lie as far ahead, from the first on.
struct Ahead {
  std::int64_t distance = 0;  // in floats
  int first = 0, step = 1;
};

// y[i, j] for M rows of x and n rows of W.
template <int M, bool kFetch>
HWY_NOINLINE void Rows(const FewRows& s, const float* HWY_RESTRICT x, const float* HWY_RESTRICT w, float* y,
                       const float* bias, const Ahead& ahead) {
  const Floats d;
  constexpr int kFours = M * 8 <= kMostSums ? 2 : 1;  // one row needs more sums, or it would wait for each
  constexpr int N = 4 * kFours;
  for (std::int64_t j = 0; j < s.n; j += N, w += N * s.w_stride) {
    // A little memory is asked for at a time, or the processor would wait until all of it is on its way.
    const auto fetch = [&](std::int64_t k) ATTEND_BODY {
      for (int r = ahead.first; r < N; r += ahead.step)
        ATTEND_UNROLL for (std::int64_t l = 0; l < 4 * gemm::kLanes; l += 16)
            __builtin_prefetch(w + ahead.distance + r * s.w_stride + k + l, 0, 2);
    };
    FloatVector sum[M][kFours][4];
    ATTEND_UNROLL for (int i = 0; i < M; ++i) {
      ATTEND_UNROLL for (int r = 0; r < N; ++r) sum[i][r / 4][r % 4] = hn::Zero(d);
    }
    const int columns = static_cast<int>(std::min<std::int64_t>(N, s.n - j));
    const float* rows[N];  // the last one stands for those beyond, which are dropped
    ATTEND_UNROLL for (int r = 0; r < N; ++r) rows[r] = w + std::min(r, columns - 1) * s.w_stride;
    // By four, so that the branch predictor foresees the last turn.
    ForVectorsByFour(s.k, [&](auto at, int turn) ATTEND_BODY {
      if (kFetch && turn == 0) fetch(at.index);
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

using RowsOf = void (*)(const FewRows&, const float*, const float*, float*, const float*, const Ahead&);

void FewRowsOf(const FewRows& s, const float* x, const float* w, float* y, const float* bias) {
  static constexpr RowsOf kRowsOf[] = {Rows<1, false>,
                                       Rows<2, false>,
                                       Rows<3, false>,
                                       Rows<std::min(4, kMostRows), false>,
                                       Rows<std::min(5, kMostRows), false>,
                                       Rows<kMostRows, false>};
  static constexpr RowsOf kRowsAndFetch[] = {Rows<1, true>,
                                             Rows<2, true>,
                                             Rows<3, true>,
                                             Rows<std::min(4, kMostRows), true>,
                                             Rows<std::min(5, kMostRows), true>,
                                             Rows<kMostRows, true>};
  static_assert(kMostRows <= std::size(kRowsOf));
  const std::int64_t tiles = (s.m + kMostRows - 1) / kMostRows;
  const std::int64_t pieces = std::max<std::int64_t>((s.k + kDepth - 1) / kDepth, 1);
  const std::int64_t depth = std::max<std::int64_t>(((s.k + pieces - 1) / pieces + 15) / 16, 1) * 16;
  const std::int64_t block = std::max<std::int64_t>((tiles == 1 ? 4 : 1) * kBlockFloats / depth / 4, 1) * 4;
  const std::int64_t distance = std::max(block, kAheadFloats / depth);
  const int fetchers = static_cast<int>(std::min<std::int64_t>(tiles, 4));  // the tiles that share in it
  const auto columns = [&](std::int64_t begin, std::int64_t end) {
    FewRows part = s;
    for (std::int64_t k = 0; k == 0 || k < s.k; k += depth) {
      part.k = std::min(depth, s.k - k);
      part.accumulate = s.accumulate || k > 0;
      for (std::int64_t j = begin; j < end; j += block) {
        part.n = std::min(block, end - j);
        const float* rows = w + j * s.w_stride + k;
        const bool more = j + distance + block <= end;
        std::int64_t first = 0;
        for (std::int64_t t = 0; t < tiles; ++t) {
          const std::int64_t count = s.m / tiles + (t < s.m % tiles);
          (more && t < fetchers ? kRowsAndFetch : kRowsOf)[count - 1](
              part, x + first * s.x_stride + k, rows, y + first * s.y_stride + j, bias && k == 0 ? bias + j : nullptr,
              {distance * s.w_stride, static_cast<int>(t), fetchers});
          first += count;
        }
      }
    }
  };
  // Large products are handed out in parts, as cores that others use too are not equally fast.
  constexpr std::int64_t kLeast = 256, kParts = 8;
  const std::int64_t share = (s.n / (kParts * threads()) + 15) / 16 * 16;
  if (share >= kLeast)
    return parallel_tasks((s.n + share - 1) / share,
                          [&](std::int64_t i) { columns(i * share, std::min((i + 1) * share, s.n)); });
  const std::int64_t worth_a_thread = 1 + (1 << 15) / (s.m * s.k + 1);
  parallel_for(s.n, (worth_a_thread + 15) / 16 * 16, columns);
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
