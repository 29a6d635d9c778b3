#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "attend/kernels/few_rows.cpp"
#include "attend/kernels/foreach_target.h"  // IWYU pragma: keep

#include <hwy/highway.h>

#include <algorithm>
#include <iterator>
#include <limits>
#include <span>
#include <vector>

#include "attend/core/threads.h"
#include "attend/kernels/few_rows.h"
#include "attend/kernels/gemm-inl.h"
#include "attend/kernels/half.h"
#include "attend/kernels/scratch.h"
#include "attend/kernels/totals-inl.h"

HWY_BEFORE_NAMESPACE();
namespace attend::kernels::HWY_NAMESPACE {
namespace {

using FloatParts = std::span<const RowsPart<const float*>>;
using HalfParts = std::span<const RowsPart<HalfNumbers>>;

// The sums that are kept in registers: rows of x times rows of W. Rows of W are processed in groups of four.
constexpr int kMostSums = gemm::kVectors == 4 ? 24 : 12;  // of 32 registers, or of 16
constexpr int kMostRows = kMostSums / 4;
// The part of k that is processed at a time, so that the rows of a tile fit in the L1 cache.
constexpr std::int64_t kDepth = 1024;
// The block of W that stays in the L2 cache while it is multiplied by all rows of x. The next one is prefetched.
constexpr std::int64_t kBlockBytes = 64 << 10;
constexpr std::int64_t kAheadInRow = 12 << 10;  // prefetch distance if rows are read one after the other

// The rows of W to prefetch: rows first, first + step, … of the rows that are `distance` ahead.
struct Ahead {
  std::int64_t distance = 0;  // in elements
  int first = 0, step = 1;
};

// Types and accumulators of a product: float times float, or times a 16-bit number that is converted to float,
template <class Weight>
struct FloatProducts {
  using X = float;
  using W = Weight;
  using Vectors = Floats;
  static constexpr int kTurns = 4;
  static constexpr bool kScaled = false;
  FloatVector sum;
  HWY_INLINE FloatProducts() : sum(hn::Zero(Floats())) {}
  HWY_INLINE void Add(FloatVector x, FloatVector w) { sum = hn::MulAdd(x, w, sum); }
  HWY_INLINE FloatVector Get() const { return sum; }
};

// or 15-bit integers times int8, whose sums over kDepth do not overflow.
struct ByteProducts {
  using X = std::int16_t;
  using W = std::int8_t;
  using Vectors = Shorts;
  static constexpr int kTurns = 2;  // with more turns, compilers reorder the integer sums and run out of registers
  static constexpr bool kScaled = true;
  static constexpr int kMostX = 16383, kMostW = 127;
  static_assert(kDepth * kMostX * kMostW <= std::numeric_limits<std::int32_t>::max());
  using Ints = hn::ScalableTag<std::int32_t>;
  hn::Vec<Ints> sum, rest;  // some instruction sets need two accumulators
  HWY_INLINE ByteProducts() : sum(hn::Zero(Ints())), rest(hn::Zero(Ints())) {}
  HWY_INLINE void Add(ShortVector x, ShortVector w) { sum = hn::ReorderWidenMulAccumulate(Ints(), x, w, sum, rest); }
  HWY_INLINE FloatVector Get() const { return hn::ConvertTo(Floats(), hn::Add(sum, rest)); }
};

// y = x_scale · w_scale · sum + bias. The scales are only used by ByteProducts.
struct Finish {
  const float *x_scale, *w_scale, *bias;
  Finish From(std::int64_t i, std::int64_t j, bool with_bias) const {
    const auto at = [](const float* p, std::int64_t k) { return p ? p + k : nullptr; };
    return {at(x_scale, i), at(w_scale, j), with_bias ? at(bias, j) : nullptr};
  }
};

// y[i, j] for M rows of x and n rows of W.
template <class P, int M, bool kFetch>
HWY_NOINLINE void Rows(const FewRows& s, const typename P::X* HWY_RESTRICT x, const typename P::W* HWY_RESTRICT w,
                       float* y, const Finish& finish, const Ahead& ahead) {
  constexpr int kFours = M * 8 <= kMostSums ? 2 : 1;  // few rows need more independent sums to hide latencies
  constexpr int N = 4 * kFours;
  for (std::int64_t j = 0; j < s.n; j += N, w += N * s.w_stride) {
    // Prefetches are spread over the loop: too many at once would stall the processor.
    constexpr int kLine = 64 / sizeof(*w), kAll = P::kTurns * hn::MaxLanes(typename P::Vectors());
    const auto fetch = [&](std::int64_t k) ATTEND_BODY {
      if (kAll < kLine && k % kLine >= kAll) return;
      for (int r = ahead.first; r < N; r += ahead.step)
        ATTEND_UNROLL for (int l = 0; l < kAll; l += kLine)
            __builtin_prefetch(w + ahead.distance + r * s.w_stride + k + l, 0, 3);
    };
    P sum[M][kFours][4];
    const int columns = static_cast<int>(std::min<std::int64_t>(N, s.n - j));
    const typename P::W* rows[N];  // missing rows are replaced by the last one; their results are not used
    ATTEND_UNROLL for (int r = 0; r < N; ++r) rows[r] = w + std::min(r, columns - 1) * s.w_stride;
    if constexpr (M == 1) {
      // One row of x is limited by the memory, which is fastest if the rows of W are read one after the other.
      ATTEND_UNROLL for (int r = 0; r < N; ++r) {
        ForVectorsInTurns<typename P::Vectors, P::kTurns>(s.k, [&](auto at, int turn) ATTEND_BODY {
          if (turn == 0)
            ATTEND_UNROLL for (int l = 0; l < kAll; l += kLine)
                __builtin_prefetch(rows[r] + kAheadInRow / sizeof(*w) + at.index + l);
          sum[0][r / 4][r % 4].Add(at.Load(x), at.Load(rows[r]));
        });
      }
    } else {
      // Unrolled, so that the branch predictor can predict the end of the loop.
      ForVectorsInTurns<typename P::Vectors, P::kTurns>(s.k, [&](auto at, int turn) ATTEND_BODY {
        if (kFetch && turn == 0) fetch(at.index);
        hn::Vec<typename P::Vectors> xs[M];
        ATTEND_UNROLL for (int i = 0; i < M; ++i) xs[i] = at.Load(x + i * s.x_stride);
        ATTEND_UNROLL for (int r = 0; r < N; ++r) {
          const auto ws = at.Load(rows[r]);
          ATTEND_UNROLL for (int i = 0; i < M; ++i) sum[i][r / 4][r % 4].Add(xs[i], ws);
        }
      });
    }
    float* out = y + j;
    ATTEND_UNROLL for (int i = 0; i < M; ++i, out += s.y_stride) {
      ATTEND_UNROLL for (int f = 0; f < kFours; ++f) {
        const P(&four)[4] = sum[i][f];
        Four totals = Totals({four[0].Get(), four[1].Get(), four[2].Get(), four[3].Get()});
        if constexpr (P::kScaled) totals = MulFour(totals, SetFour(finish.x_scale[i]));
        if (HWY_LIKELY(columns == N)) {
          if constexpr (P::kScaled) totals = MulFour(totals, LoadFour(finish.w_scale + j + 4 * f));
          if (finish.bias) totals = AddFour(totals, LoadFour(finish.bias + j + 4 * f));
          if (s.accumulate) totals = AddFour(totals, LoadFour(out + 4 * f));
          StoreFour(totals, out + 4 * f);
        } else {
          float all[4];
          StoreFour(totals, all);
          for (int r = 4 * f; r < std::min(columns, 4 * f + 4); ++r)
            out[r] = all[r - 4 * f] * (P::kScaled ? finish.w_scale[j + r] : 1.f) +
                     (finish.bias ? finish.bias[j + r] : 0.f) + (s.accumulate ? out[r] : 0.f);
        }
      }
    }
  }
}

template <class P>
using RowsOf = void (*)(const FewRows&, const typename P::X*, const typename P::W*, float*, const Finish&,
                        const Ahead&);

template <class P, bool kFetch>
constexpr RowsOf<P> kRowsOf[] = {Rows<P, 1, kFetch>,
                                 Rows<P, 2, kFetch>,
                                 Rows<P, 3, kFetch>,
                                 Rows<P, std::min(4, kMostRows), kFetch>,
                                 Rows<P, std::min(5, kMostRows), kFetch>,
                                 Rows<P, kMostRows, kFetch>};

template <class P>
struct Part {
  const typename P::W* w;
  std::int64_t n;
  float* y;
  std::int64_t y_stride;
  Finish finish;
};

template <class P>
void FewRowsOf(const FewRows& s, const typename P::X* x, std::span<const Part<P>> parts) {
  static_assert(kMostRows <= std::size(kRowsOf<P, false>));
  const std::int64_t tiles = (s.m + kMostRows - 1) / kMostRows;
  const std::int64_t pieces = std::max<std::int64_t>((s.k + kDepth - 1) / kDepth, 1);
  const std::int64_t depth = std::max<std::int64_t>(((s.k + pieces - 1) / pieces + 15) / 16, 1) * 16;
  const std::int64_t bytes = depth * static_cast<std::int64_t>(sizeof(typename P::W));
  const std::int64_t block = std::max<std::int64_t>(kBlockBytes / bytes / 4, 1) * 4;
  const auto columns = [&](const Part<P>& p, std::int64_t begin, std::int64_t end) {
    FewRows part = s;
    part.y_stride = p.y_stride;
    for (std::int64_t k = 0; k == 0 || k < s.k; k += depth) {
      part.k = std::min(depth, s.k - k);
      part.accumulate = s.accumulate || k > 0;
      for (std::int64_t j = begin; j < end; j += block) {
        part.n = std::min(block, end - j);
        const typename P::W* rows = p.w + j * s.w_stride + k;
        const bool more = j + 2 * block <= end;
        std::int64_t first = 0;
        for (std::int64_t t = 0; t < tiles; ++t) {
          const std::int64_t count = s.m / tiles + (t < s.m % tiles);
          (more ? kRowsOf<P, true> : kRowsOf<P, false>)[count - 1](
              part, x + first * s.x_stride + k, rows, p.y + first * p.y_stride + j, p.finish.From(first, j, k == 0),
              {block * s.w_stride, static_cast<int>(t), static_cast<int>(tiles)});
          first += count;
        }
      }
    }
  };
  std::int64_t n = 0;
  for (const Part<P>& p : parts) n += p.n;
  const auto columns_of_parts = [&](std::int64_t begin, std::int64_t end) {
    for (const Part<P>& p : parts) {
      const std::int64_t first = std::max<std::int64_t>(begin, 0), last = std::min(end, p.n);
      if (first < last) columns(p, first, last);
      begin -= p.n, end -= p.n;
    }
  };
  // Large products are split into many tasks, because other processes may slow down some of the cores.
  constexpr std::int64_t kLeast = 256, kParts = 8;
  const std::int64_t share = (n / (kParts * threads()) + 15) / 16 * 16;
  if (share >= kLeast)
    return parallel_tasks((n + share - 1) / share,
                          [&](std::int64_t i) { columns_of_parts(i * share, std::min((i + 1) * share, n)); });
  const std::int64_t worth_a_thread = 1 + (1 << 15) / (s.m * s.k + 1);
  parallel_for(n, (worth_a_thread + 15) / 16 * 16, columns_of_parts);
}

// The products with weights that cast(part.w) converts to a pointer to P::W.
template <class P, class Parts>
void FewRowsOf(const FewRows& s, const float* x, Parts parts, const auto& cast) {
  std::vector<Part<P>> all;
  for (const auto& part : parts)
    if (part.n > 0) all.push_back({cast(part.w), part.n, part.y, part.y_stride, {nullptr, nullptr, part.bias}});
  if (!all.empty()) FewRowsOf<P>(s, x, all);
}

void FewFloatRows(const FewRows& s, const float* x, FloatParts parts) {
  FewRowsOf<FloatProducts<float>>(s, x, parts, [](const float* w) { return w; });
}

template <class Half>
void FewHalfRowsOf(const FewRows& s, const float* x, HalfParts parts) {
  FewRowsOf<FloatProducts<Half>>(s, x, parts, [](HalfNumbers w) { return reinterpret_cast<const Half*>(w.data); });
}
void FewHalfRows(const FewRows& s, const float* x, HalfParts parts) {
  (parts.front().w.bfloat16 ? FewHalfRowsOf<hwy::bfloat16_t> : FewHalfRowsOf<hwy::float16_t>)(s, x, parts);
}

void FewByteRows(const FewRows& s, const std::int16_t* x, const float* x_scale, const std::int8_t* w,
                 const float* w_scale, float* y, const float* bias) {
  const Part<ByteProducts> whole{w, s.n, y, s.y_stride, {x_scale, w_scale, bias}};
  FewRowsOf<ByteProducts>(s, x, {&whole, 1});
}

// Rounds each row of x to integers in ±kMostX, and computes its scale: NaN for a row with a number that is not finite,
// so that the products are NaN too.
void RoundRows(const FewRows& s, const float* x, std::int16_t* rounded, float* scale) {
  parallel_for(s.m, 1 + (1 << 14) / (s.k + 1), [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t i = begin; i < end; ++i) {
      const float* row = x + i * s.x_stride;
      FloatVector greatest = hn::Zero(Floats()), zero = hn::Zero(Floats());
      ForVectors(s.k, [&](auto at) ATTEND_BODY {
        const FloatVector v = at.Load(row);
        greatest = hn::Max(greatest, hn::Abs(v));  // ignores NaN
        zero = hn::Add(zero, hn::Sub(v, v));       // NaN unless v is finite
      });
      const float most = hn::GetLane(hn::MaxOfLanes(Floats(), greatest)) + hn::GetLane(hn::SumOfLanes(Floats(), zero));
      scale[i] = most / ByteProducts::kMostX;
      const FloatVector inverse = hn::Set(Floats(), most > 0 ? ByteProducts::kMostX / most : 0.f);
      ForVectors(s.k, [&](auto at)
                          ATTEND_BODY { at.Store(hn::NearestInt(hn::Mul(at.Load(row), inverse)), rounded + i * s.k); });
    }
  });
}

}  // namespace
}  // namespace attend::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace attend::kernels {

HWY_EXPORT(FewFloatRows);
HWY_EXPORT(FewHalfRows);
HWY_EXPORT(FewByteRows);
HWY_EXPORT(RoundRows);

void few_rows(const FewRows& shape, const float* x, std::span<const RowsPart<const float*>> parts) {
  if (shape.m > 0 && !parts.empty()) HWY_DYNAMIC_DISPATCH(FewFloatRows)(shape, x, parts);
}

void few_rows(const FewRows& shape, const float* x, std::span<const RowsPart<HalfNumbers>> parts) {
  if (shape.m > 0 && !parts.empty()) HWY_DYNAMIC_DISPATCH(FewHalfRows)(shape, x, parts);
}

void few_rows(const FewRows& shape, const float* x, const float* w, float* y, const float* bias) {
  const RowsPart<const float*> whole{w, shape.n, bias, y, shape.y_stride};
  few_rows(shape, x, {&whole, 1});
}

void few_rows(const FewRows& shape, const float* x, HalfNumbers w, float* y, const float* bias) {
  const RowsPart<HalfNumbers> whole{w, shape.n, bias, y, shape.y_stride};
  few_rows(shape, x, {&whole, 1});
}

void few_rows(const FewRows& shape, const float* x, const std::int8_t* w, const float* scale, float* y,
              const float* bias) {
  if (shape.m <= 0 || shape.n <= 0) return;
  Scratch scratch(Scratch::Size(shape.m) + shape.m * shape.k / 2 + 1);
  float* x_scale = scratch.Take(shape.m);
  auto* rounded = reinterpret_cast<std::int16_t*>(scratch.data);
  HWY_DYNAMIC_DISPATCH(RoundRows)(shape, x, rounded, x_scale);
  FewRows whole = shape;
  whole.x_stride = shape.k;
  HWY_DYNAMIC_DISPATCH(FewByteRows)(whole, rounded, x_scale, w, scale, y, bias);
}

}  // namespace attend::kernels
#endif
