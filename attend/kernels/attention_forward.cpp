#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "attend/kernels/attention_forward.cpp"
#include "attend/kernels/foreach_target.h"  // IWYU pragma: keep

#include <hwy/highway.h>

#include <cmath>

#include "attend/kernels/attention-inl.h"
#include "attend/kernels/attention.h"

HWY_BEFORE_NAMESPACE();
namespace attend::kernels::HWY_NAMESPACE {
namespace attention {
namespace {

constexpr std::int64_t kKeyTile = 256;  // keys that are packed together; a multiple of the dropout block size
static_assert(kKeyTile % kDropoutBlockSize == 0, "a row of multipliers has room for whole blocks");
constexpr std::int64_t kQueryBlock = 24;  // queries at a time, so that their scores for these keys fit in the L1 cache
static_assert(kKeyTile % kGemmWidth == 0 && kQueryBlock % kGemmRows == 0, "scores have room for whole tiles");
constexpr std::int64_t kFewQueries = 4;   // up to this number of queries, packing the keys does not pay
constexpr std::int64_t kKeySpan = 256;    // keys of one task if there are few queries
constexpr std::int64_t kStreamTile = 64;  // keys that such a task processes at a time
static_assert(kKeySpan % kStreamTile == 0 && kStreamTile % kDropoutBlockSize == 0);

struct Output {
  float* out;
  std::int64_t stride;
  float* logsumexp;
  std::int64_t dropout_blocks;  // blocks per row
};

/// Scores (in log2 units) may exceed the reference score by this much without overflow: 2^64, times the number of keys
/// and the values, is far below the largest float.
constexpr float kSmall = 64.f;

/// The online softmax of one query: a reference score, which is at most kSmall below the largest one so far, and the
/// sum of 2^(score - largest).
struct RowState {
  float largest = -kInfinity;
  float sum = 0.f;
};

/// The maximum of `largest` and n scores; n is a multiple of the vector length.
HWY_INLINE float MaxRow(std::int64_t n, const float* HWY_RESTRICT s, float largest) {
  const D d;
  V max0 = hn::Set(d, largest), max1 = max0;
  std::int64_t j = 0;
  for (; j + 2 * kLanes <= n; j += 2 * kLanes) {
    max0 = hn::Max(max0, hn::LoadU(d, s + j));
    max1 = hn::Max(max1, hn::LoadU(d, s + j + kLanes));
  }
  if (j < n) max0 = hn::Max(max0, hn::LoadU(d, s + j));
  return MaxOf(hn::Max(max0, max1));
}

/// s = 2^(s - largest) for n scores; n is a multiple of the vector length. Returns their sum.
HWY_INLINE float Exp2Row(std::int64_t n, float largest, float* HWY_RESTRICT s) {
  const D d;
  const V shift = hn::Set(d, largest == -kInfinity ? 0.f : largest);
  V sum = hn::Zero(d);
  for (std::int64_t j = 0; j < n; j += kLanes) {
    const V p = Exp2(d, hn::Sub(hn::LoadU(d, s + j), shift));
    hn::StoreU(p, d, s + j);
    sum = hn::Add(sum, p);
  }
  return SumOf(sum);
}

/// One step of the online softmax for m queries: replaces n new scores of each query with weights 2^(score - largest).
/// If the reference score has changed, rescales the sums and the values accumulated so far. Each loop runs over all
/// rows, which hides latencies.
HWY_INLINE void SoftmaxRows(std::int64_t m, std::int64_t n, float* s, std::int64_t s_stride, RowState* states,
                            std::int64_t columns, float* gathered, std::int64_t stride) {
  float largest[kQueryBlock];
  for (std::int64_t r = 0; r < m; ++r) largest[r] = MaxRow(n, s + r * s_stride, states[r].largest);
  for (std::int64_t r = 0; r < m; ++r) {
    if (!(largest[r] > states[r].largest + kSmall)) continue;
    const bool first = states[r].largest == -kInfinity;  // nothing is accumulated yet
    const float factor = Exp2(states[r].largest - largest[r]);
    states[r] = {largest[r], states[r].sum * factor};
    if (!first) ScaleRow(columns, gathered + r * stride, factor, gathered + r * stride);
  }
  for (std::int64_t r = 0; r < m; ++r) states[r].sum += Exp2Row(n, states[r].largest, s + r * s_stride);
}

HWY_INLINE void DropRow(const Head& h, const Output& output, std::int64_t i, std::int64_t j, std::int64_t n, float* s) {
  const D d;
  HWY_ALIGN float multipliers[kKeyTile];
  h.Dropout(i, j, n, output.dropout_blocks, multipliers);
  for (std::int64_t c = 0; c < n; c += kLanes)
    hn::StoreU(hn::Mul(hn::LoadU(d, s + c), hn::LoadU(d, multipliers + c)), d, s + c);
}

/// The logarithm of the sum; -infinity if all keys are masked.
HWY_INLINE float LogSumExp(const RowState& state) {
  return state.sum == 0.f ? -kInfinity : (state.largest + std::log2(state.sum)) * kLn2;
}

/// Writes out = gathered / sum, and the logarithm of the sum.
HWY_INLINE void FinishRow(const Head& h, const Output& output, std::int64_t i, const RowState& state,
                          const float* gathered) {
  const std::int64_t row = h.segment.q_begin + i;
  const std::int64_t columns = h.problem.value_dim;
  float* out = output.out + row * output.stride + h.head * columns;
  if (state.sum != 0.f)
    ScaleRow(columns, gathered, 1.f / state.sum, out);
  else
    std::fill_n(out, columns, 0.f);
  if (output.logsumexp) output.logsumexp[row * h.problem.heads + h.head] = LogSumExp(state);
}

// ---- Scores that are known to be small: 2^score is computed in registers, without finding the maximum first ----

/// to = from * factor, n floats. Returns the Euclidean norm of the result.
HWY_INLINE float ScaleAndMeasure(std::int64_t n, const float* from, float factor, float* to) {
  const D d;
  V squares = hn::Zero(d);
  std::int64_t i = 0;
  for (; i + kLanes <= n; i += kLanes) {
    const V x = hn::Mul(hn::LoadU(d, from + i), hn::Set(d, factor));
    hn::StoreU(x, d, to + i);
    squares = hn::MulAdd(x, x, squares);
  }
  float sum = SumOf(squares);
  for (; i < n; ++i) {
    to[i] = from[i] * factor;
    sum += to[i] * to[i];
  }
  return std::sqrt(sum);
}

/// The largest norm of n packed keys.
HWY_INLINE float LargestNorm(std::int64_t n, std::int64_t depth, const float* packed_keys) {
  constexpr int kVectors = gemm::kVectors;
  const D d;
  V largest = hn::Zero(d);
  for (std::int64_t j = 0; j < n; j += kGemmWidth, packed_keys += depth * kGemmWidth) {
    V sums[2][kVectors];
    ATTEND_UNROLL for (int v = 0; v < kVectors; ++v) sums[0][v] = sums[1][v] = hn::Zero(d);
    for (std::int64_t p = 0; p < depth; p += 2) {
      ATTEND_UNROLL for (int v = 0; v < kVectors; ++v) {
        const float* at = packed_keys + p * kGemmWidth + v * kLanes;
        const V even = hn::LoadU(d, at), odd = hn::LoadU(d, at + (p + 1 < depth ? kGemmWidth : 0));
        sums[0][v] = hn::MulAdd(even, even, sums[0][v]);
        sums[1][v] = hn::MulAdd(odd, odd, sums[1][v]);
      }
    }
    ATTEND_UNROLL for (int v = 0; v < kVectors; ++v) largest = hn::Max(largest, hn::Add(sums[0][v], sums[1][v]));
  }
  return std::sqrt(MaxOf(largest));
}

/// weights [m, kGemmWidth] = 2^(queries · keys). Adds them to `sums`, which has one vector for each query. m is rounded
/// up to whole tiles.
HWY_NOINLINE void WeightPanel(std::int64_t m, std::int64_t depth, const float* queries, std::int64_t q_stride,
                              const float* keys, float* weights, std::int64_t stride, float* sums) {
  constexpr int kRows = gemm::kRows, kVectors = gemm::kVectors;
  const D d;
  for (std::int64_t i = 0; i < m; i += kRows) {
    V scores[kRows][kVectors];
    ATTEND_UNROLL for (int r = 0; r < kRows; ++r) {
      ATTEND_UNROLL for (int j = 0; j < kVectors; ++j) scores[r][j] = hn::Zero(d);
    }
    gemm::AddProducts<kRows, kVectors, false>(depth, queries + i * q_stride, q_stride, keys, kGemmWidth, scores);
    ATTEND_UNROLL for (int r = 0; r < kRows; ++r) {
      V sum = hn::LoadU(d, sums + (i + r) * kLanes);
      ATTEND_UNROLL for (int j = 0; j < kVectors; ++j) {
        const V weight = Exp2Small(d, scores[r][j]);
        hn::StoreU(weight, d, weights + (i + r) * stride + j * kLanes);
        sum = hn::Add(sum, weight);
      }
      hn::StoreU(sum, d, sums + (i + r) * kLanes);
    }
  }
}

/// WeightPanel for n keys. Adds the sums to the states of the queries, whose `largest` is 0.
HWY_INLINE void SmallWeights(std::int64_t m, std::int64_t n, std::int64_t depth, const float* queries,
                             std::int64_t q_stride, const float* packed_keys, float* weights, std::int64_t stride,
                             RowState* states) {
  HWY_ALIGN float sums[kQueryBlock * kLanes] = {};
  for (std::int64_t j = 0; j < n; j += kGemmWidth)
    WeightPanel(m, depth, queries, q_stride, packed_keys + j * depth, weights + j, stride, sums);
  for (std::int64_t r = 0; r < m; ++r) states[r].sum += SumOf(hn::LoadU(D(), sums + r * kLanes));
}

// ---- Many queries: tiles of packed keys and values, each used by a whole chunk of queries ----

std::int64_t TiledScratch(const AttentionProblem& p, std::int64_t chunk, std::int64_t keys) {
  const std::int64_t tile = std::min(keys, kKeyTile);
  return Scratch::Size(chunk * Stride(p.head_dim)) + Scratch::Size(PackedSize(p.head_dim, tile)) +
         Scratch::Size(PackedSize(tile, p.value_dim)) + Scratch::Size(kQueryBlock * Stride(kKeyTile)) +
         Scratch::Size(chunk * Stride(p.value_dim)) + Scratch::Size(2 * chunk) + Scratch::Size(chunk / kQueryBlock);
}

void ForwardChunk(const Head& h, std::int64_t begin, std::int64_t rows, Scratch scratch, const Output& output) {
  const AttentionProblem& p = h.problem;
  const std::int64_t keys = h.Visible(begin + rows - 1), tile = std::min(keys, kKeyTile);
  const std::int64_t q_stride = Stride(p.head_dim), s_stride = Stride(kKeyTile), o_stride = Stride(p.value_dim);
  const std::int64_t whole_rows = (rows + kQueryBlock - 1) / kQueryBlock * kQueryBlock;
  const std::int64_t columns = Padded(p.value_dim);
  float* queries = scratch.Take(whole_rows * q_stride);
  float* packed_keys = scratch.Take(PackedSize(p.head_dim, tile));
  float* packed_values = scratch.Take(PackedSize(tile, p.value_dim));
  float* scores = scratch.Take(kQueryBlock * s_stride);
  float* gathered = scratch.Take(rows * o_stride);
  auto* states = reinterpret_cast<RowState*>(scratch.Take(2 * rows));
  float* norms = scratch.Take(whole_rows / kQueryBlock);  // the largest norm of the queries of each block
  std::fill_n(norms, whole_rows / kQueryBlock, 0.f);
  for (std::int64_t i = 0; i < rows; ++i) {
    gemm::PrefetchAhead(i, rows, p.head_dim, h.Query(begin), p.q_stride);
    float& norm = norms[i / kQueryBlock];
    norm = std::max(norm, ScaleAndMeasure(p.head_dim, h.Query(begin + i), p.scale * kLog2E, queries + i * q_stride));
  }
  std::fill_n(queries + rows * q_stride, (whole_rows - rows) * q_stride, 0.f);
  std::uninitialized_fill_n(states, rows, RowState());
  // With a window, blocks of queries begin with different tiles, and all of them add to zeros.
  const bool window = p.window >= 0;
  if (window) std::fill_n(gathered, rows * o_stride, 0.f);

  for (std::int64_t j = h.FirstVisible(begin) / kKeyTile * kKeyTile; j < keys; j += kKeyTile) {
    const std::int64_t n = std::min(kKeyTile, keys - j);
    PackTransposed(n, p.head_dim, h.Key(j), p.k_stride, packed_keys);
    Pack(n, p.value_dim, h.Value(j), p.v_stride, packed_values);
    // With a bias or a mask matrix there is no bound on the scores, and a window hides keys at both ends.
    const bool general = p.bias.data || p.allowed.data || window || p.cap > 0;
    const float key_norm = general ? kInfinity : LargestNorm(n, p.head_dim, packed_keys);
    const std::int64_t end = std::min(rows, h.EndSeeing(j + n - 1) - begin);
    std::int64_t i = std::max<std::int64_t>(0, h.FirstSeeing(j) - begin) / kQueryBlock * kQueryBlock;
    for (; i < end; i += kQueryBlock) {
      const std::int64_t m = std::min(kQueryBlock, rows - i);
      const std::int64_t seen = std::min(n, h.Visible(begin + i + m - 1) - j), padded = Padded(seen);
      const float* block = queries + i * q_stride;
      // A bound on the scores by the Cauchy–Schwarz inequality, with a margin for rounding. Once a block of queries may
      // have large scores, it uses the general path for all further keys.
      float& norm = norms[i / kQueryBlock];
      if (!(norm * key_norm <= 0.9f * kSmall)) norm = kInfinity;
      const bool small = norm < kInfinity;
      if (small && j == 0)
        for (std::int64_t r = 0; r < m; ++r) states[i + r].largest = 0.f;
      // The keys that all these queries attend to.
      const std::int64_t clear =
          small ? std::clamp<std::int64_t>(h.Visible(begin + i) - j, 0, n) / kGemmWidth * kGemmWidth : 0;
      SmallWeights(m, clear, p.head_dim, block, q_stride, packed_keys, scores, s_stride, states + i);
      if (clear < seen) {
        float* rest = scores + clear;
        GemmPacked(m, padded - clear, p.head_dim, block, q_stride, packed_keys + clear * p.head_dim, rest, s_stride,
                   false);
        for (std::int64_t r = 0; r < m; ++r) {
          const std::int64_t query = begin + i + r, visible = std::min(seen, h.Visible(query) - j);
          h.Mask(query, j + clear, visible - clear, padded - clear, rest + r * s_stride);
        }
        SoftmaxRows(m, padded - clear, rest, s_stride, states + i, columns, gathered + i * o_stride, o_stride);
      }
      if (p.dropout.threshold)
        for (std::int64_t r = 0; r < m; ++r) DropRow(h, output, begin + i + r, j, padded, scores + r * s_stride);
      GemmPackedTop(m, columns, seen, scores, s_stride, packed_values, n, gathered + i * o_stride, o_stride,
                    window || j > 0);
    }
  }
  const float* first_row = output.out + (h.segment.q_begin + begin) * output.stride + h.head * p.value_dim;
  for (std::int64_t i = 0; i < rows; ++i) {
    gemm::PrefetchAhead(i, rows, p.value_dim, first_row, output.stride);
    FinishRow(h, output, begin + i, states[i], gathered + i * o_stride);
  }
}

// ---- Few keys: no packing, weights on the stack, results written directly to the output ----

void ForwardShort(const Head& h, const Output& output) {
  const AttentionProblem& p = h.problem;
  const std::int64_t n = h.segment.k_rows, padded = Padded(n);
  HWY_ALIGN float scores[kShortQueries * kShortStride];
  for (std::int64_t begin = 0; begin < h.segment.q_rows; begin += kShortQueries) {
    const std::int64_t m = std::min(kShortQueries, h.segment.q_rows - begin), first = h.segment.q_begin + begin;
    float* out = output.out + first * output.stride + h.head * p.value_dim;
    DotRows(m, n, p.head_dim, h.Query(begin), p.q_stride, h.Key(0), p.k_stride, p.scale * kLog2E, scores, kShortStride);
    RowState states[kShortQueries];
    for (std::int64_t r = 0; r < m; ++r) {
      float* s = scores + r * kShortStride;
      h.Mask(begin + r, 0, h.Visible(begin + r), padded, s);
      states[r].largest = MaxRow(padded, s, -kInfinity);
    }
    for (std::int64_t r = 0; r < m; ++r) states[r].sum = Exp2Row(padded, states[r].largest, scores + r * kShortStride);
    for (std::int64_t r = 0; r < m; ++r) {
      float* s = scores + r * kShortStride;
      if (p.dropout.threshold) DropRow(h, output, begin + r, 0, padded, s);
      ScaleRow(padded, s, states[r].sum == 0.f ? 0.f : 1.f / states[r].sum, s);
    }
    Gemm(m, p.value_dim, n, scores, kShortStride, h.Value(0), p.v_stride, out, output.stride, false);
    for (std::int64_t r = 0; r < m; ++r) {
      if (states[r].sum == 0.f) std::fill_n(out + r * output.stride, p.value_dim, 0.f);
      if (output.logsumexp) output.logsumexp[(first + r) * p.heads + h.head] = LogSumExp(states[r]);
    }
  }
}

// ---- Few queries, as in decoding: keys and values are read once, in the order of memory ----

std::int64_t StreamScratch(const AttentionProblem& p) { return Scratch::Size(p.heads * kStreamTile); }

/// The scores of one key for all heads: scores[h · kStreamTile] = factor · q_h · k_h. Processes four heads at a time.
HWY_INLINE void DotHeads(const AttentionProblem& p, const float* q, const float* k, float factor, float* scores) {
  const std::int64_t group = p.group();
  for (std::int64_t h = 0; h < p.heads; h += 4) {
    const float* qs[4];
    const float* ks[4];
    V sums[4];
    ATTEND_UNROLL for (std::int64_t r = 0; r < 4; ++r) {
      const std::int64_t head = std::min(h + r, p.heads - 1);  // missing heads are replaced by the last one
      qs[r] = q + head * p.head_dim;
      ks[r] = k + (group == 1 ? head : head / group) * p.head_dim;
      sums[r] = hn::Zero(D());
    }
    ForVectors(p.head_dim, [&](auto at) ATTEND_BODY {
      ATTEND_UNROLL for (int r = 0; r < 4; ++r) sums[r] = hn::MulAdd(at.Load(qs[r]), at.Load(ks[r]), sums[r]);
    });
    HWY_ALIGN float totals[4];
    StoreFour(MulFour(Totals(sums), SetFour(factor)), totals);
    for (std::int64_t r = 0; r < std::min<std::int64_t>(4, p.heads - h); ++r) scores[(h + r) * kStreamTile] = totals[r];
  }
}

/// sums[h] += Σ weight · value over N keys, for all heads.
template <int N>
HWY_INLINE void AddValues(const AttentionProblem& p, const float* weights, const float* values, float* sums) {
  const std::int64_t group = p.group(), E = p.value_dim;
  for (std::int64_t h = 0; h < p.heads; ++h) {
    const float* v = values + (group == 1 ? h : h / group) * E;
    float* sum = sums + h * E;
    V factors[N];
    ATTEND_UNROLL for (int r = 0; r < N; ++r) factors[r] = hn::Set(D(), weights[h * kStreamTile + r]);
    ForVectors(E, [&](auto at) ATTEND_BODY {
      V x = at.Load(sum);
      ATTEND_UNROLL for (int r = 0; r < N; ++r) x = hn::MulAdd(factors[r], at.Load(v + r * p.v_stride), x);
      at.Store(x, sum);
    });
  }
}

/// Processes all queries and heads of one segment, and the keys [begin, end). The results for query i and head h have
/// the index i · heads + h: its state, and gathered [value_dim], the sum of weights times values.
void StreamSpan(const AttentionProblem& p, std::int64_t segment_index, std::int64_t begin, std::int64_t end,
                Scratch scratch, const Output& output, RowState* states, float* gathered) {
  const AttentionSegment& segment = p.segments[static_cast<std::size_t>(segment_index)];
  const Head first{p, segment, segment_index, 0};
  float* scores = scratch.Take(p.heads * kStreamTile);
  std::uninitialized_fill_n(states, segment.q_rows * p.heads, RowState());
  std::fill_n(gathered, segment.q_rows * p.heads * p.value_dim, 0.f);
  for (std::int64_t j = begin; j < end; j += kStreamTile)
    for (std::int64_t i = 0; i < segment.q_rows; ++i) {
      const std::int64_t n = std::min({kStreamTile, end - j, first.Visible(i) - j});
      float* sums = gathered + i * p.heads * p.value_dim;
      for (std::int64_t c = 0; c < n; ++c) DotHeads(p, first.Query(i), first.Key(j + c), p.scale * kLog2E, scores + c);
      for (std::int64_t h = 0; n > 0 && h < p.heads; ++h) {
        const Head head{p, segment, segment_index, h};
        float* s = scores + h * kStreamTile;
        head.Mask(i, j, n, Padded(n), s);
        SoftmaxRows(1, Padded(n), s, 0, states + i * p.heads + h, p.value_dim, sums + h * p.value_dim, 0);
        if (p.dropout.threshold) DropRow(head, output, i, j, Padded(n), s);
      }
      std::int64_t c = 0;
      for (; c + 2 <= n; c += 2) AddValues<2>(p, scores + c, first.Value(j + c), sums);
      if (c < n) AddValues<1>(p, scores + c, first.Value(j + c), sums);
    }
}

/// Combines the results of all spans of a segment, in order. `states` and `gathered` are those of the first span; the
/// others follow in memory.
void JoinSpans(const AttentionProblem& p, std::int64_t segment_index, std::int64_t spans, const RowState* states,
               float* gathered, const Output& output) {
  const AttentionSegment& segment = p.segments[static_cast<std::size_t>(segment_index)];
  const std::int64_t rows = segment.q_rows * p.heads, E = p.value_dim;
  for (std::int64_t row = 0; row < rows; ++row) {
    RowState all = states[row];
    float* sums = gathered + row * E;
    for (std::int64_t s = 1; s < spans; ++s) {
      const RowState& next = states[s * rows + row];
      if (next.largest == -kInfinity) continue;
      const float largest = std::max(all.largest, next.largest);
      const float before = Exp2(all.largest - largest), more = Exp2(next.largest - largest);
      all = {largest, all.sum * before + next.sum * more};
      const float* from = gathered + (s * rows + row) * E;
      for (std::int64_t c = 0; c < E; ++c) sums[c] = sums[c] * before + from[c] * more;
    }
    FinishRow({p, segment, segment_index, row % p.heads}, output, row / p.heads, all, sums);
  }
}

// ---- Division into tasks ----

enum class Path { few_queries, few_keys, tiles };

struct Task {
  Path path;
  std::int64_t segment;
  std::int64_t head = 0, begin = 0, rows = 0;  // tiles: the queries of one head; otherwise all heads
  std::int64_t span = 0, spans = 1, slot = 0;  // few queries: the span of keys, and the index of its results
};

/// The number of queries of one task. Each task packs the keys again, so it should be large, but there must be enough
/// tasks for all threads. The bits of a row do not depend on it.
std::int64_t QueryChunk(const AttentionProblem& p) {
  constexpr std::int64_t kLeast = 4 * kQueryBlock, kMost = 1024, kMostFloats = 65536;
  const std::int64_t most =
      std::clamp(kMostFloats / std::max<std::int64_t>({p.head_dim, p.value_dim, 1}), kLeast, kMost);
  const std::int64_t longest = std::max<std::int64_t>(1, LongestQueries(p));
  const std::int64_t pairs = static_cast<std::int64_t>(p.segments.size()) * p.heads;
  const std::int64_t wanted = std::min((4 * threads() + pairs - 1) / pairs, (longest + kLeast - 1) / kLeast);
  const std::int64_t chunks = std::max((longest + most - 1) / most, wanted);
  const std::int64_t rows = (longest + chunks - 1) / chunks;
  return (rows + kQueryBlock - 1) / kQueryBlock * kQueryBlock;
}

void Forward(const AttentionProblem& p, float* out, std::int64_t out_stride, float* logsumexp) {
  if (p.segments.empty() || p.heads == 0) return;
  const std::int64_t chunk = QueryChunk(p);
  const Output output{out, out_stride, logsumexp, DropoutBlocksPerRow(p)};
  std::vector<Task> tasks;
  std::int64_t slots = 0, scratch_size = 0;
  for (std::int64_t s = 0; s < static_cast<std::int64_t>(p.segments.size()); ++s) {
    const AttentionSegment& segment = p.segments[static_cast<std::size_t>(s)];
    if (segment.q_rows <= kFewQueries) {
      const std::int64_t spans = std::max<std::int64_t>(1, (segment.k_rows + kKeySpan - 1) / kKeySpan);
      for (std::int64_t span = 0; span < spans; ++span, slots += segment.q_rows * p.heads)
        tasks.push_back({.path = Path::few_queries, .segment = s, .span = span, .spans = spans, .slot = slots});
      scratch_size = std::max(scratch_size, StreamScratch(p));
    } else if (segment.k_rows <= kShortKeys) {
      tasks.push_back({.path = Path::few_keys, .segment = s});
    } else {
      // The last queries are first: with a causal mask they are the most work, and small tasks at the end balance the
      // load.
      for (std::int64_t h = 0; h < p.heads; ++h)
        for (std::int64_t i = (segment.q_rows - 1) / chunk * chunk; i >= 0; i -= chunk)
          tasks.push_back(
              {.path = Path::tiles, .segment = s, .head = h, .begin = i, .rows = std::min(chunk, segment.q_rows - i)});
      scratch_size = std::max(scratch_size, TiledScratch(p, chunk, LongestKeys(p)));
    }
  }
  Scratch parts(Scratch::Size(slots * p.value_dim) + Scratch::Size(2 * slots));
  float* gathered = parts.Take(slots * p.value_dim);
  auto* states = reinterpret_cast<RowState*>(parts.Take(2 * slots));

  const std::int64_t width = p.head_dim + p.value_dim;
  const auto cost = [&](const Task& task) {
    const AttentionSegment& segment = p.segments[static_cast<std::size_t>(task.segment)];
    if (task.path == Path::tiles)
      return task.rows * Head{p, segment, task.segment, task.head}.Visible(task.begin + task.rows - 1) * width;
    if (task.path == Path::few_keys) return segment.q_rows * segment.k_rows * width * p.heads;
    // With few queries for each key, memory is the bottleneck, and a multiply-add takes longer.
    return 8 * std::min(segment.k_rows, kKeySpan) * width * p.heads;
  };
  const auto alone = [](const Task&, const Task&) { return false; };
  RunGrouped(tasks, cost, alone, [&](std::size_t first, std::size_t last) {
    const Scratch scratch(scratch_size);
    for (std::size_t t = first; t < last; ++t) {
      const Task& task = tasks[t];
      const AttentionSegment& segment = p.segments[static_cast<std::size_t>(task.segment)];
      switch (task.path) {
        case Path::tiles:
          ForwardChunk({p, segment, task.segment, task.head}, task.begin, task.rows, scratch, output);
          break;
        case Path::few_keys:
          for (std::int64_t h = 0; h < p.heads; ++h) ForwardShort({p, segment, task.segment, h}, output);
          break;
        case Path::few_queries: {
          const std::int64_t begin = task.span * kKeySpan, end = std::min(begin + kKeySpan, segment.k_rows);
          float* sums = gathered + task.slot * p.value_dim;
          StreamSpan(p, task.segment, begin, end, scratch, output, states + task.slot, sums);
          if (task.spans == 1) JoinSpans(p, task.segment, 1, states + task.slot, sums, output);
        }
      }
    }
  });
  for (const Task& task : tasks)
    if (task.spans > 1 && task.span == 0)
      JoinSpans(p, task.segment, task.spans, states + task.slot, gathered + task.slot * p.value_dim, output);
}

/// Replaces a row of scores with its softmax.
void NormaliseRow(std::int64_t n, float* s) {
  RowState state;
  std::int64_t j = 0;
  for (std::int64_t c = 0; c < n; ++c) state.largest = std::max(state.largest, s[c]);
  if (state.largest == -kInfinity) {
    std::fill_n(s, n, 0.f);
    return;
  }
  const D d;
  const V shift = hn::Set(d, state.largest);
  V sum = hn::Zero(d);
  for (; j + kLanes <= n; j += kLanes) {
    const V p = Exp2(d, hn::Sub(hn::LoadU(d, s + j), shift));
    hn::StoreU(p, d, s + j);
    sum = hn::Add(sum, p);
  }
  state.sum = SumOf(sum);
  for (; j < n; ++j) state.sum += s[j] = Exp2(s[j] - state.largest);
  ScaleRow(n, s, 1.f / state.sum, s);
}

void Weights(const AttentionProblem& p, std::int64_t T, std::int64_t S, float* weights) {
  const std::int64_t pairs = static_cast<std::int64_t>(p.segments.size()) * p.heads;
  const std::int64_t q_stride = Stride(p.head_dim);
  parallel_tasks(pairs, [&](std::int64_t pair) {
    const std::int64_t index = pair / p.heads;
    const Head h{p, p.segments[static_cast<std::size_t>(index)], index, pair % p.heads};
    float* to = weights + pair * T * S;
    const AttentionSegment& segment = h.segment;
    Scratch scratch(Scratch::Size(segment.q_rows * q_stride) + Scratch::Size(PackedSize(p.head_dim, segment.k_rows)));
    float* queries = scratch.Take(segment.q_rows * q_stride);
    float* packed_keys = scratch.Take(PackedSize(p.head_dim, segment.k_rows));
    CopyRows(segment.q_rows, p.head_dim, h.Query(0), p.q_stride, p.scale * kLog2E, queries, q_stride);
    PackTransposed(segment.k_rows, p.head_dim, h.Key(0), p.k_stride, packed_keys);
    GemmPacked(segment.q_rows, segment.k_rows, p.head_dim, queries, q_stride, packed_keys, to, S, false);
    for (std::int64_t i = 0; i < T; ++i) {
      float* row = to + i * S;
      const std::int64_t visible = i < segment.q_rows ? h.Visible(i) : 0;
      if (p.cap > 0) h.Cap(visible, row, nullptr);
      h.AddMatrices(i, 0, visible, row);
      std::fill(row + visible, row + S, -kInfinity);
      if (visible > 0) std::fill_n(row, h.FirstVisible(i), -kInfinity);
      NormaliseRow(S, row);
    }
  });
}

}  // namespace
}  // namespace attention

void AttentionForward(const AttentionProblem& problem, float* out, std::int64_t out_stride, float* logsumexp) {
  attention::Forward(problem, out, out_stride, logsumexp);
}
void AttentionWeights(const AttentionProblem& problem, std::int64_t T, std::int64_t S, float* weights) {
  attention::Weights(problem, T, S, weights);
}

}  // namespace attend::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace attend::kernels {

HWY_EXPORT(AttentionForward);
void attention_forward(const AttentionProblem& problem, float* out, std::int64_t out_stride, float* logsumexp) {
  HWY_DYNAMIC_DISPATCH(AttentionForward)(problem, out, out_stride, logsumexp);
}

HWY_EXPORT(AttentionWeights);
void attention_weights(const AttentionProblem& problem, std::int64_t T, std::int64_t S, float* weights) {
  HWY_DYNAMIC_DISPATCH(AttentionWeights)(problem, T, S, weights);
}

}  // namespace attend::kernels
#endif
