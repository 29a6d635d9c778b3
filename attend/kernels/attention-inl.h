// Helpers of the forward and backward pass of fused attention. Compiled once for each instruction set. Queries are
// multiplied by scale · log2(e) when they are copied, so that the softmax uses 2^x instead of e^x.
#if defined(ATTEND_KERNELS_ATTENTION_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef ATTEND_KERNELS_ATTENTION_INL_H_
#undef ATTEND_KERNELS_ATTENTION_INL_H_
#else
#define ATTEND_KERNELS_ATTENTION_INL_H_
#endif

#include <hwy/highway.h>

#include <algorithm>
#include <limits>
#include <type_traits>
#include <vector>

#include "attend/core/threads.h"
#include "attend/kernels/attention.h"
#include "attend/kernels/gemm-inl.h"
#include "attend/kernels/math-inl.h"
#include "attend/kernels/philox-inl.h"
#include "attend/kernels/scratch.h"
#include "attend/kernels/totals-inl.h"

HWY_BEFORE_NAMESPACE();
namespace attend::kernels::HWY_NAMESPACE {
namespace attention {
namespace hn = hwy::HWY_NAMESPACE;

using gemm::D;
using gemm::kLanes;
using gemm::V;
constexpr float kInfinity = std::numeric_limits<float>::infinity();
constexpr float kLog2E = 1.44269504f;
constexpr float kLn2 = 0.693147181f;

HWY_INLINE std::int64_t Padded(std::int64_t n) { return (n + kLanes - 1) / kLanes * kLanes; }
/// The row stride of a scratch matrix with n columns: whole vectors, plus one vector, so that rows do not map to the
/// same sets of the cache.
HWY_INLINE std::int64_t Stride(std::int64_t n) { return Padded(n) + kLanes; }

/// 2^x for |x| <= 126. NaN gives NaN.
HWY_INLINE V Exp2Small(D d, V x) {
  const hn::Rebind<std::int32_t, D> di;
  // Adding 1.5 * 2^23 rounds x to an integer, which is then in the low bits. 127 is the bias of the exponent.
  const V magic = hn::Set(d, 0x1.8p23f + 127.f);
  const V shifted = hn::Add(x, magic);
  const V r = hn::Sub(x, hn::Sub(shifted, magic));
  const V p = Polynomial(d, r, 1.f, 0.693147004f, 0.240222424f, 0.0555073358f, 0.00967151299f, 0.00132647273f);
  return hn::Mul(p, hn::BitCast(d, hn::ShiftLeft<23>(hn::BitCast(di, shifted))));
}
/// 2^x for x <= 126; 0 below 2^-126. NaN gives NaN.
HWY_INLINE V Exp2(D d, V x) { return Exp2Small(d, AtLeast(d, -127.f, x)); }
HWY_INLINE float Exp2(float x) { return hn::GetLane(Exp2(D(), hn::Set(D(), x))); }

HWY_INLINE float MaxOf(V v) { return hn::GetLane(hn::MaxOfLanes(D(), v)); }
HWY_INLINE float SumOf(V v) { return hn::GetLane(hn::SumOfLanes(D(), v)); }

/// y = x * factor, n floats.
HWY_INLINE void ScaleRow(std::int64_t n, const float* x, float factor, float* y) {
  const D d;
  const V f = hn::Set(d, factor);
  std::int64_t i = 0;
  for (; i + kLanes <= n; i += kLanes) hn::StoreU(hn::Mul(hn::LoadU(d, x + i), f), d, y + i);
  for (; i < n; ++i) y[i] = x[i] * factor;
}

/// y = x * factor, or y += x * factor.
HWY_INLINE void PutRow(std::int64_t n, const float* x, float factor, float* y, bool add) {
  if (!add) return ScaleRow(n, x, factor, y);
  const D d;
  const V f = hn::Set(d, factor);
  std::int64_t i = 0;
  for (; i + kLanes <= n; i += kLanes) hn::StoreU(hn::MulAdd(hn::LoadU(d, x + i), f, hn::LoadU(d, y + i)), d, y + i);
  for (; i < n; ++i) y[i] += x[i] * factor;
}

/// Copies rows × n floats, times factor, to scratch memory whose rows are `stride` apart. Pads each row with zeros to
/// whole vectors.
HWY_INLINE void CopyRows(std::int64_t rows, std::int64_t n, const float* from, std::int64_t from_stride, float factor,
                         float* to, std::int64_t stride) {
  for (std::int64_t i = 0; i < rows; ++i) {
    gemm::PrefetchAhead(i, rows, n, from, from_stride);
    ScaleRow(n, from + i * from_stride, factor, to + i * stride);
    std::fill(to + i * stride + n, to + i * stride + Padded(n), 0.f);
  }
}

/// One head of one segment: access to its rows, and its mask.
struct Head {
  const AttentionProblem& problem;
  const AttentionSegment& segment;
  std::int64_t segment_index, head;
  std::int64_t kv_head = head / problem.group();

  const float* Query(std::int64_t i) const {
    return problem.q + (segment.q_begin + i) * problem.q_stride + head * problem.head_dim;
  }
  const float* Key(std::int64_t j) const {
    return problem.k + (segment.k_begin + j) * problem.k_stride + kv_head * problem.head_dim;
  }
  const float* Value(std::int64_t j) const {
    return problem.v + (segment.k_begin + j) * problem.v_stride + kv_head * problem.value_dim;
  }
  /// Query i may attend to the keys [FirstVisible(i), Visible(i)).
  std::int64_t Visible(std::int64_t i) const {
    if (problem.causal) return std::min(i + 1, segment.k_rows);
    return problem.window < 0 ? segment.k_rows : std::min(i + problem.window + 1, segment.k_rows);
  }
  std::int64_t FirstVisible(std::int64_t i) const {
    return problem.window < 0 ? 0 : std::min(std::max<std::int64_t>(i - problem.window, 0), Visible(i));
  }
  /// Key j is visible for the queries [FirstSeeing(j), EndSeeing(j)).
  std::int64_t FirstSeeing(std::int64_t j) const {
    if (problem.causal) return j;
    return problem.window < 0 ? 0 : std::max<std::int64_t>(j - problem.window, 0);
  }
  std::int64_t EndSeeing(std::int64_t j) const {
    return problem.window < 0 ? segment.q_rows : std::min(j + problem.window + 1, segment.q_rows);
  }

  /// Replaces n scores s with cap · tanh(s / cap). `slopes` gets the derivatives, unless it is null.
  HWY_INLINE void Cap(std::int64_t n, float* s, float* slopes) const {
    const D d;
    const float cap = problem.cap * kLog2E;  // of scores in log2 units
    const V limit = hn::Set(d, cap), inverse = hn::Set(d, 1 / cap), one = hn::Set(d, 1.f);
    ForVectors(n, [&](auto at) ATTEND_BODY {
      const V t = Tanh(d, hn::Mul(at.Load(s), inverse));
      at.Store(hn::Mul(t, limit), s);
      if (slopes) at.Store(hn::NegMulAdd(t, t, one), slopes);
    });
  }

  /// Applies the mask and the bias to the scores s[0, padded) of query i and the keys from j on. Of the first `valid`
  /// keys, those from FirstVisible(i) on may be attended to; the scores of the others are set to -infinity.
  /// If the scores are capped, `slopes` gets the derivatives of the valid ones, unless it is null.
  HWY_INLINE void Mask(std::int64_t i, std::int64_t j, std::int64_t valid, std::int64_t padded, float* s,
                       float* slopes = nullptr) const {
    const D d;
    valid = std::max<std::int64_t>(valid, 0);
    if (problem.cap > 0) Cap(valid, s, slopes);
    for (std::int64_t c = valid / kLanes * kLanes; c < padded; c += kLanes) {
      const auto seen = hn::FirstN(d, static_cast<std::size_t>(std::max<std::int64_t>(valid - c, 0)));
      hn::StoreU(hn::IfThenElse(seen, hn::LoadU(d, s + c), hn::Set(d, -kInfinity)), d, s + c);
    }
    std::fill_n(s, std::clamp<std::int64_t>(FirstVisible(i) - j, 0, padded), -kInfinity);
    AddMatrices(i, j, valid, s);
  }
  /// Adds the bias to the scores of query i and the keys [j, j + n). Sets scores that are not allowed to -infinity.
  HWY_INLINE void AddMatrices(std::int64_t i, std::int64_t j, std::int64_t n, float* s) const {
    if (const AttentionMatrix<float>& bias = problem.bias; bias.data) {
      const D d;
      const float* row = bias.data + bias.offset(segment_index, head, i) + j;
      std::int64_t c = 0;
      for (; c + kLanes <= n; c += kLanes)
        hn::StoreU(hn::MulAdd(hn::LoadU(d, row + c), hn::Set(d, kLog2E), hn::LoadU(d, s + c)), d, s + c);
      for (; c < n; ++c) s[c] += row[c] * kLog2E;
    }
    if (const AttentionMatrix<std::int8_t>& allowed = problem.allowed; allowed.data) {
      const std::int8_t* row = allowed.data + allowed.offset(segment_index, head, i) + j;
      for (std::int64_t c = 0; c < n; ++c) s[c] = row[c] ? s[c] : -kInfinity;
    }
  }

  /// The dropout multipliers of query i and the keys [j, j + n). They depend only on the indices. They are written in
  /// whole blocks, so `multipliers` must have room for n rounded up, and j must be a multiple of the block size.
  HWY_INLINE void Dropout(std::int64_t i, std::int64_t j, std::int64_t n, std::int64_t blocks_per_row,
                          float* multipliers) const {
    constexpr auto kBlock = static_cast<std::int64_t>(kDropoutBlockSize);
    const std::int64_t row = (segment.q_begin + i) * problem.heads + head;
    for (std::int64_t c = 0; c < n; c += kBlock)
      DropoutMultipliers(problem.key, problem.dropout,
                         static_cast<std::uint64_t>(row * blocks_per_row + (j + c) / kBlock), multipliers + c);
  }
};

// ---- Few keys or few queries: dot products of unpacked rows, because packing would be slower ----

constexpr int kDotRows = gemm::kVectors == 4 ? 4 : 2;  // times 4 rows of y: as many sums as fit in registers

/// s[r, c] = factor · x_r · y_c for M rows of x and `columns` <= 4 rows of y. Rows of s must have room for four.
template <int M>
HWY_INLINE void DotTile(std::int64_t depth, const float* x, std::int64_t x_stride, const float* y,
                        std::int64_t y_stride, std::int64_t columns, float factor, float* s, std::int64_t s_stride) {
  const float* ys[4];  // missing rows are replaced by the last one
  ATTEND_UNROLL for (std::int64_t c = 0; c < 4; ++c) ys[c] = y + std::min(c, columns - 1) * y_stride;
  V sums[M][4];
  ATTEND_UNROLL for (int r = 0; r < M; ++r) { ATTEND_UNROLL for (int c = 0; c < 4; ++c) sums[r][c] = hn::Zero(D()); }
  ForVectors(depth, [&](auto at) ATTEND_BODY {
    V columns_of[4];
    ATTEND_UNROLL for (int c = 0; c < 4; ++c) columns_of[c] = at.Load(ys[c]);
    ATTEND_UNROLL for (int r = 0; r < M; ++r) {
      const V row = at.Load(x + r * x_stride);
      ATTEND_UNROLL for (int c = 0; c < 4; ++c) sums[r][c] = hn::MulAdd(row, columns_of[c], sums[r][c]);
    }
  });
  ATTEND_UNROLL for (int r = 0; r < M; ++r) StoreFour(MulFour(Totals(sums[r]), SetFour(factor)), s + r * s_stride);
}

/// s [m, n] = factor · x · yᵀ, x [m, depth], y [n, depth]. Rows of s must have room for n rounded up to a multiple of
/// four. The bits of an element depend on its two rows only.
HWY_INLINE void DotRows(std::int64_t m, std::int64_t n, std::int64_t depth, const float* x, std::int64_t x_stride,
                        const float* y, std::int64_t y_stride, float factor, float* s, std::int64_t s_stride) {
  for (std::int64_t c = 0; c < n; c += 4) {
    const float* columns = y + c * y_stride;
    const auto tile = [&](auto rows, std::int64_t r) ATTEND_BODY {
      DotTile<rows()>(depth, x + r * x_stride, x_stride, columns, y_stride, std::min<std::int64_t>(4, n - c), factor,
                      s + r * s_stride + c, s_stride);
    };
    std::int64_t r = 0;
    for (; r + kDotRows <= m; r += kDotRows) tile(std::integral_constant<int, kDotRows>(), r);
    if (kDotRows > 2 && r + 2 <= m) tile(std::integral_constant<int, 2>(), r), r += 2;
    if (r < m) tile(std::integral_constant<int, 1>(), r);
  }
}

/// Up to this number of keys, the scores of a few queries of one head fit into the L1 cache unpacked.
constexpr std::int64_t kShortKeys = 24;
constexpr std::int64_t kShortQueries = 24;
constexpr std::int64_t kShortStride = (kShortKeys + kLanes - 1) / kLanes * kLanes;
static_assert(kShortKeys % 4 == 0);

/// Runs tasks on all threads. Consecutive tasks are grouped, so that a group is large enough for a thread, and
/// body(begin, end) is called for each group. cost(task) is its number of multiply-adds. Consecutive tasks a and b are
/// never separated if together(a, b).
template <typename Task, typename Cost, typename Together, typename Body>
void RunGrouped(const std::vector<Task>& tasks, const Cost& cost, const Together& together, const Body& body) {
  constexpr std::int64_t kWorthwhile = 1 << 19;
  std::vector<std::size_t> cuts{0};
  std::int64_t sum = 0;
  for (std::size_t t = 0; t < tasks.size(); ++t) {
    sum += cost(tasks[t]);
    const bool last = t + 1 == tasks.size();
    if (last || (sum >= kWorthwhile && !together(tasks[t], tasks[t + 1]))) cuts.push_back(t + 1), sum = 0;
  }
  parallel_tasks(static_cast<std::int64_t>(cuts.size()) - 1, [&](std::int64_t g) {
    const auto i = static_cast<std::size_t>(g);
    body(cuts[i], cuts[i + 1]);
  });
}

inline std::int64_t LongestKeys(const AttentionProblem& problem) {
  std::int64_t longest = 0;
  for (const AttentionSegment& segment : problem.segments) longest = std::max(longest, segment.k_rows);
  return longest;
}
inline std::int64_t LongestQueries(const AttentionProblem& problem) {
  std::int64_t longest = 0;
  for (const AttentionSegment& segment : problem.segments) longest = std::max(longest, segment.q_rows);
  return longest;
}
inline std::int64_t DropoutBlocksPerRow(const AttentionProblem& problem) {
  constexpr auto kBlock = static_cast<std::int64_t>(kDropoutBlockSize);
  return (LongestKeys(problem) + kBlock - 1) / kBlock;
}

}  // namespace attention
}  // namespace attend::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
#endif
