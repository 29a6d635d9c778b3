#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "attend/kernels/attention_backward.cpp"
#include "attend/kernels/foreach_target.h"  // IWYU pragma: keep

#include <hwy/highway.h>

#include "attend/kernels/attention-inl.h"
#include "attend/kernels/attention.h"

HWY_BEFORE_NAMESPACE();
namespace attend::kernels::HWY_NAMESPACE {
namespace attention {
namespace {

// With P the weights, dP = dO Vᵀ, and delta_i = dO_i · O_i:
//   dV = Pᵀ dO,  dS = P ∘ (dP - delta),  dQ = scale · dS K,  dK = scale · dSᵀ Q,  dbias = dS.
// If the scores are capped, dS is multiplied by the derivative 1 - tanh² before dQ and dK.
// Dropout multiplies P (in dV only) and dP. If several heads or segments share keys, values or a bias, their gradients
// are summed.

constexpr std::int64_t kKeyTile = 128;  // keys that are processed together; a multiple of the dropout block size
static_assert(kKeyTile % kDropoutBlockSize == 0, "a row of multipliers has room for whole blocks");
constexpr std::int64_t kQueryBlock = 48;  // queries that are processed at a time
constexpr std::int64_t kFewTasks = 8;     // with fewer heads than this, the keys of a head are split among tasks

struct Pass {
  const AttentionProblem& problem;
  const float* out;
  const float* dout;
  std::int64_t out_stride;
  const float* logsumexp;
  AttentionGradients gradients;
  std::int64_t dropout_blocks;  // blocks per row
};

/// The number of queries that are copied together and processed with all keys.
std::int64_t QueryChunk(const AttentionProblem& p) {
  constexpr std::int64_t kMost = 1024, kMostFloats = 65536;
  const std::int64_t width = std::max<std::int64_t>({p.head_dim, p.value_dim, 1});
  const std::int64_t most = std::clamp(kMostFloats / width, kQueryBlock, kMost) / kQueryBlock;
  const std::int64_t longest = (LongestQueries(p) + kQueryBlock - 1) / kQueryBlock;
  return std::clamp<std::int64_t>(longest, 1, most) * kQueryBlock;
}

std::int64_t ScratchSize(const AttentionProblem& p, std::int64_t chunk, std::int64_t keys) {
  const std::int64_t tile = std::min(keys, kKeyTile);
  return 2 * Scratch::Size(chunk * Stride(p.head_dim)) + Scratch::Size(chunk * Stride(p.value_dim)) +
         2 * Scratch::Size(chunk) + Scratch::Size(PackedSize(p.head_dim, tile)) +
         Scratch::Size(PackedSize(p.value_dim, tile)) + Scratch::Size(PackedSize(tile, p.head_dim)) +
         2 * Scratch::Size(kQueryBlock * Stride(kKeyTile)) + Scratch::Size(tile * Stride(p.head_dim)) +
         Scratch::Size(tile * Stride(p.value_dim));
}

/// Replaces the scores of a row with P, and dP with dS.
HWY_INLINE void GradientRow(std::int64_t n, float logsumexp, float delta, float* HWY_RESTRICT s,
                            float* HWY_RESTRICT dp) {
  const D d;
  const V shift = hn::Set(d, logsumexp), centre = hn::Set(d, delta);
  for (std::int64_t j = 0; j < n; j += kLanes) {
    const V p = Exp2(d, hn::Sub(hn::LoadU(d, s + j), shift));
    hn::StoreU(p, d, s + j);
    hn::StoreU(hn::Mul(p, hn::Sub(hn::LoadU(d, dp + j), centre)), d, dp + j);
  }
}
/// GradientRow with dropout.
HWY_INLINE void GradientRowDropped(std::int64_t n, float logsumexp, float delta, const float* HWY_RESTRICT multipliers,
                                   float* HWY_RESTRICT s, float* HWY_RESTRICT dp) {
  const D d;
  const V shift = hn::Set(d, logsumexp), centre = hn::Set(d, delta);
  for (std::int64_t j = 0; j < n; j += kLanes) {
    const V p = Exp2(d, hn::Sub(hn::LoadU(d, s + j), shift)), keep = hn::LoadU(d, multipliers + j);
    hn::StoreU(hn::Mul(p, keep), d, s + j);
    hn::StoreU(hn::Mul(p, hn::MulSub(hn::LoadU(d, dp + j), keep, centre)), d, dp + j);
  }
}

/// ds *= slopes, n floats.
HWY_INLINE void MulRow(std::int64_t n, const float* slopes, float* ds) {
  ForVectors(n, [&](auto at) ATTEND_BODY { at.Store(hn::Mul(at.Load(ds), at.Load(slopes)), ds); });
}

HWY_INLINE float Dot(std::int64_t n, const float* x, const float* y) {
  const D d;
  V sum = hn::Zero(d);
  std::int64_t i = 0;
  for (; i + kLanes <= n; i += kLanes) sum = hn::MulAdd(hn::LoadU(d, x + i), hn::LoadU(d, y + i), sum);
  float total = SumOf(sum);
  for (; i < n; ++i) total += x[i] * y[i];
  return total;
}

/// to += from, n floats.
HWY_INLINE void AddRow(std::int64_t n, const float* from, float* to) { PutRow(n, from, 1.f, to, true); }

/// Where to write the gradients of one head. dq and dbias point to this head's first row; dk and dv are as in
/// AttentionGradients.
struct HeadGradients {
  float* dq;
  std::int64_t dq_stride;
  bool add_dq, add_dk, add_dv;
  float* dbias;  ///< row i begins at dbias + i * bias.row_stride
};

/// Processes the keys [key_begin, key_end) of one head.
void BackwardHead(const Pass& pass, const Head& h, std::int64_t key_begin, std::int64_t key_end, std::int64_t chunk,
                  const HeadGradients& to, Scratch scratch) {
  const AttentionProblem& p = pass.problem;
  const AttentionGradients& g = pass.gradients;
  const std::int64_t depth = Padded(p.head_dim), columns = Padded(p.value_dim);
  const std::int64_t q_stride = Stride(p.head_dim), o_stride = Stride(p.value_dim), s_stride = Stride(kKeyTile);
  const std::int64_t tile = std::min(key_end - key_begin, kKeyTile);
  float* queries = scratch.Take(chunk * q_stride);
  float* query_sums = scratch.Take(chunk * q_stride);
  float* douts = scratch.Take(chunk * o_stride);
  float* logsumexp = scratch.Take(chunk);
  float* delta = scratch.Take(chunk);
  float* keys_transposed = scratch.Take(PackedSize(p.head_dim, tile));
  float* values_transposed = scratch.Take(PackedSize(p.value_dim, tile));
  float* keys = scratch.Take(PackedSize(tile, p.head_dim));
  float* scores = scratch.Take(kQueryBlock * s_stride);
  float* dscores = scratch.Take(kQueryBlock * s_stride);
  float* key_sums = scratch.Take(tile * q_stride);
  float* value_sums = scratch.Take(tile * o_stride);
  float* dk = g.dk ? g.dk + h.segment.k_begin * g.dk_stride + h.kv_head * p.head_dim : nullptr;
  float* dv = g.dv ? g.dv + h.segment.k_begin * g.dv_stride + h.kv_head * p.value_dim : nullptr;
  HWY_ALIGN float multipliers[kKeyTile];
  HWY_ALIGN float slopes[kKeyTile];

  // At least one iteration: without queries, the gradients of the keys are zero.
  for (std::int64_t begin = 0; begin == 0 || begin < h.segment.q_rows; begin += chunk) {
    const std::int64_t rows = std::min(chunk, h.segment.q_rows - begin);
    const std::int64_t row = h.segment.q_begin + begin;
    const float* out = pass.out + row * pass.out_stride + h.head * p.value_dim;
    const float* dout = pass.dout + row * pass.out_stride + h.head * p.value_dim;
    CopyRows(rows, p.head_dim, h.Query(begin), p.q_stride, p.scale * kLog2E, queries, q_stride);
    CopyRows(rows, p.value_dim, dout, pass.out_stride, 1.f, douts, o_stride);
    std::fill_n(query_sums, rows * q_stride, 0.f);
    for (std::int64_t i = 0; i < rows; ++i) {
      delta[i] = Dot(p.value_dim, out + i * pass.out_stride, dout + i * pass.out_stride);
      const float sum = pass.logsumexp[(row + i) * p.heads + h.head];
      logsumexp[i] = sum == -kInfinity ? kInfinity : sum * kLog2E;  // all keys masked: P becomes 0
    }
    for (std::int64_t j = key_begin; j < key_end; j += kKeyTile) {
      const std::int64_t n = std::min(kKeyTile, key_end - j);
      std::fill_n(key_sums, n * q_stride, 0.f);
      std::fill_n(value_sums, n * o_stride, 0.f);
      const std::int64_t first = std::max<std::int64_t>(0, h.FirstSeeing(j) - begin);
      if (first < rows) {
        PackTransposed(n, p.head_dim, h.Key(j), p.k_stride, keys_transposed);
        PackTransposed(n, p.value_dim, h.Value(j), p.v_stride, values_transposed);
        Pack(n, p.head_dim, h.Key(j), p.k_stride, keys);
      }
      const std::int64_t end = std::min(rows, h.EndSeeing(j + n - 1) - begin);
      for (std::int64_t i = first < rows ? first / kQueryBlock * kQueryBlock : rows; i < end; i += kQueryBlock) {
        const std::int64_t m = std::min(kQueryBlock, rows - i);
        const std::int64_t seen = std::min(n, h.Visible(begin + i + m - 1) - j), padded = Padded(seen);
        const float* q = queries + i * q_stride;
        const float* o = douts + i * o_stride;
        GemmPacked(m, padded, p.head_dim, q, q_stride, keys_transposed, scores, s_stride, false);
        GemmPacked(m, padded, p.value_dim, o, o_stride, values_transposed, dscores, s_stride, false);
        for (std::int64_t r = 0; r < m; ++r) {
          const std::int64_t query = begin + i + r;
          float* s = scores + r * s_stride;
          float* ds = dscores + r * s_stride;
          const std::int64_t visible = std::min(seen, h.Visible(query) - j);
          h.Mask(query, j, visible, padded, s, slopes);
          if (p.dropout.threshold) {
            h.Dropout(query, j, padded, pass.dropout_blocks, multipliers);
            GradientRowDropped(padded, logsumexp[i + r], delta[i + r], multipliers, s, ds);
          } else {
            GradientRow(padded, logsumexp[i + r], delta[i + r], s, ds);
          }
          if (to.dbias) AddRow(visible, ds, to.dbias + query * p.bias.row_stride + j);
          if (p.cap > 0) MulRow(visible, slopes, ds);
        }
        if (dv) GemmAt(seen, columns, m, scores, s_stride, o, o_stride, value_sums, o_stride, true);
        if (dk) GemmAt(seen, depth, m, dscores, s_stride, q, q_stride, key_sums, q_stride, true);
        if (to.dq) GemmPackedTop(m, depth, seen, dscores, s_stride, keys, n, query_sums + i * q_stride, q_stride, true);
      }
      for (std::int64_t r = 0; r < n; ++r) {
        // The copied queries contain the factor scale · log2(e), so dk needs the factor ln 2.
        if (dk) PutRow(p.head_dim, key_sums + r * q_stride, kLn2, dk + (j + r) * g.dk_stride, to.add_dk || begin > 0);
        if (dv) PutRow(p.value_dim, value_sums + r * o_stride, 1.f, dv + (j + r) * g.dv_stride, to.add_dv || begin > 0);
      }
    }
    if (to.dq)
      for (std::int64_t i = 0; i < rows; ++i)
        PutRow(p.head_dim, query_sums + i * q_stride, p.scale, to.dq + (begin + i) * to.dq_stride, to.add_dq);
  }
}

/// Processes all keys of one head if they are few, without packing. Since all keys are processed at once, delta is the
/// sum of P ∘ dP over a row.
void BackwardShort(const Pass& pass, const Head& h, const HeadGradients& to) {
  const D d;
  const AttentionProblem& p = pass.problem;
  const AttentionGradients& g = pass.gradients;
  const std::int64_t n = h.segment.k_rows, padded = Padded(n);
  HWY_ALIGN float weights[kShortQueries * kShortStride];
  HWY_ALIGN float dscores[kShortQueries * kShortStride];
  HWY_ALIGN float multipliers[kDropoutBlockSize];
  HWY_ALIGN float slopes[kShortStride];
  static_assert(kShortKeys <= kDropoutBlockSize);
  // At least one iteration: without queries, the gradients of the keys are zero.
  for (std::int64_t begin = 0; begin == 0 || begin < h.segment.q_rows; begin += kShortQueries) {
    const std::int64_t m = std::min(kShortQueries, h.segment.q_rows - begin), row = h.segment.q_begin + begin;
    const float* dout = pass.dout + row * pass.out_stride + h.head * p.value_dim;
    DotRows(m, n, p.head_dim, h.Query(begin), p.q_stride, h.Key(0), p.k_stride, p.scale * kLog2E, weights,
            kShortStride);
    DotRows(m, n, p.value_dim, dout, pass.out_stride, h.Value(0), p.v_stride, 1.f, dscores, kShortStride);
    for (std::int64_t r = 0; r < m; ++r) {
      float* s = weights + r * kShortStride;
      float* ds = dscores + r * kShortStride;
      const std::int64_t query = begin + r, visible = h.Visible(query);
      const float logsumexp = pass.logsumexp[(row + r) * p.heads + h.head];
      const V shift = hn::Set(d, logsumexp == -kInfinity ? kInfinity : logsumexp * kLog2E);
      h.Mask(query, 0, visible, padded, s, slopes);
      if (p.dropout.threshold) h.Dropout(query, 0, padded, pass.dropout_blocks, multipliers);
      V products = hn::Zero(d);
      for (std::int64_t c = 0; c < padded; c += kLanes) {
        const V weight = Exp2(d, hn::Sub(hn::LoadU(d, s + c), shift));
        V dweight = hn::IfThenElseZero(hn::FirstN(d, static_cast<std::size_t>(n - c)), hn::LoadU(d, ds + c));
        if (p.dropout.threshold) dweight = hn::Mul(dweight, hn::LoadU(d, multipliers + c));
        hn::StoreU(weight, d, s + c);
        hn::StoreU(dweight, d, ds + c);
        products = hn::MulAdd(weight, dweight, products);
      }
      const V delta = hn::SumOfLanes(d, products);
      for (std::int64_t c = 0; c < padded; c += kLanes) {
        const V weight = hn::LoadU(d, s + c);
        hn::StoreU(hn::Mul(weight, hn::Sub(hn::LoadU(d, ds + c), delta)), d, ds + c);
        if (p.dropout.threshold) hn::StoreU(hn::Mul(weight, hn::LoadU(d, multipliers + c)), d, s + c);
      }
      if (to.dbias) AddRow(visible, ds, to.dbias + query * p.bias.row_stride);
      if (p.cap > 0) MulRow(visible, slopes, ds);
      ScaleRow(padded, ds, p.scale, ds);
    }
    if (g.dv)
      GemmAt(n, p.value_dim, m, weights, kShortStride, dout, pass.out_stride,
             g.dv + h.segment.k_begin * g.dv_stride + h.kv_head * p.value_dim, g.dv_stride, to.add_dv || begin > 0);
    if (g.dk)
      GemmAt(n, p.head_dim, m, dscores, kShortStride, h.Query(begin), p.q_stride,
             g.dk + h.segment.k_begin * g.dk_stride + h.kv_head * p.head_dim, g.dk_stride, to.add_dk || begin > 0);
    if (to.dq)
      Gemm(m, p.head_dim, n, dscores, kShortStride, h.Key(0), p.k_stride, to.dq + begin * to.dq_stride, to.dq_stride,
           to.add_dq);
  }
}

struct Task {
  std::int64_t segment, kv_head;
  std::int64_t part;   // index of the part of the keys
  std::int64_t owner;  // index of the bias gradient to which the task adds
  std::int64_t slice;  // index of the slice among the tasks of this owner; tasks of a slice run one after the other
};

/// Assigns segments and heads to the gradients of the bias. If several segments or heads (members) share a bias, they
/// are divided into slices. Each slice adds to a matrix of its own, and the matrices are summed in order. The slices
/// depend on shapes only, so the result does not depend on the number of threads.
struct BiasOwners {
  bool by_segment, by_head;  // whether each segment or head has its own bias; true if no gradient is needed
  std::int64_t kv_heads, group, rows, columns;
  std::int64_t owners, members, slices = 1;
  std::int64_t matrix;  // size of the matrix of a slice in floats; it holds a group of heads if each has its own bias

  BiasOwners(const AttentionProblem& p, bool wanted, std::int64_t parts)
      : by_segment(!wanted || p.bias.segment_stride != 0),
        by_head(!wanted || p.bias.head_stride != 0),
        kv_heads(p.heads / p.group()),
        group(p.group()),
        rows(LongestQueries(p)),
        columns(LongestKeys(p)) {
    constexpr std::int64_t kEnough = 32, kMostFloats = 1 << 23;
    const auto segments = static_cast<std::int64_t>(p.segments.size());
    owners = (by_segment ? segments : 1) * (by_head ? kv_heads : 1);
    members = segments * kv_heads / std::max<std::int64_t>(owners, 1);
    matrix = (by_head ? group : 1) * rows * p.bias.row_stride;
    if (members <= 1) return;
    const std::int64_t most = kMostFloats / std::max<std::int64_t>(1, owners * matrix) + 1;
    slices = std::min({members, most, (kEnough + owners * parts - 1) / (owners * parts)});
  }

  std::int64_t segment(std::int64_t owner, std::int64_t member) const {
    return by_segment ? owner / (by_head ? kv_heads : 1) : member / (by_head ? 1 : kv_heads);
  }
  std::int64_t kv_head(std::int64_t owner, std::int64_t member) const {
    return by_head ? owner % kv_heads : member % kv_heads;
  }
  /// The index of the matrix of a slice. Slice 0 writes directly to the result, and has none.
  std::int64_t own(std::int64_t owner, std::int64_t slice) const { return owner * (slices - 1) + slice - 1; }
};

void Backward(const Pass& pass) {
  const AttentionProblem& p = pass.problem;
  const AttentionGradients& g = pass.gradients;
  const std::int64_t group = p.group();
  const std::int64_t pairs = static_cast<std::int64_t>(p.segments.size()) * p.heads, shared = pairs / group;
  if (pairs == 0) return;
  const std::int64_t chunk = QueryChunk(p), longest = LongestKeys(p);
  // If there are few heads, the keys of a head are split into parts. Every part except the first accumulates dq in its
  // own buffer. The buffers are added in order, so that the result does not depend on the schedule.
  const std::int64_t tiles = std::max<std::int64_t>(1, (longest + kKeyTile - 1) / kKeyTile);
  const std::int64_t parts = std::min((kFewTasks + shared - 1) / shared, (tiles + 3) / 4);
  const std::int64_t part_keys = (tiles + parts - 1) / parts * kKeyTile;
  const std::int64_t longest_q = LongestQueries(p);
  const std::int64_t part_size = g.dq ? longest_q * p.head_dim : 0;
  const BiasOwners bias(p, g.dbias, parts);
  const std::int64_t own_size = bias.owners * (bias.slices - 1) * bias.matrix;
  Scratch extra(Scratch::Size(pairs * (parts - 1) * part_size) + own_size);
  float* extra_dq = extra.Take(pairs * (parts - 1) * part_size);
  float* own_dbias = extra.Take(own_size);
  parallel_for(own_size, 1 << 15,
               [&](std::int64_t from, std::int64_t to) { std::fill(own_dbias + from, own_dbias + to, 0.f); });
  const auto extra_of = [&](std::int64_t pair, std::int64_t part) {
    return extra_dq + (pair * (parts - 1) + part - 1) * part_size;
  };

  const auto has_part = [&](const AttentionSegment& segment, std::int64_t part) {
    return part == 0 || part * part_keys < segment.k_rows;
  };
  std::vector<Task> tasks;
  for (std::int64_t owner = 0; owner < bias.owners; ++owner)
    for (std::int64_t slice = 0; slice < bias.slices; ++slice)
      for (std::int64_t part = 0; part < parts; ++part)
        for (std::int64_t m = bias.members * slice / bias.slices; m < bias.members * (slice + 1) / bias.slices; ++m) {
          const Task task{bias.segment(owner, m), bias.kv_head(owner, m), part, owner, slice};
          if (has_part(p.segments[static_cast<std::size_t>(task.segment)], part)) tasks.push_back(task);
        }
  const auto cost = [&](const Task& task) {
    const AttentionSegment& segment = p.segments[static_cast<std::size_t>(task.segment)];
    return group * segment.q_rows * std::min(segment.k_rows, part_keys) * (3 * p.head_dim + 2 * p.value_dim);
  };
  const auto together = [](const Task& a, const Task& b) {
    return a.owner == b.owner && a.slice == b.slice && a.part == b.part;
  };
  const std::int64_t scratch_size = longest <= kShortKeys ? 0 : ScratchSize(p, chunk, longest);
  RunGrouped(tasks, cost, together, [&](std::size_t first, std::size_t last) {
    const Scratch scratch(scratch_size);
    for (std::size_t t = first; t < last; ++t) {
      const Task& task = tasks[t];
      for (std::int64_t n = 0; n < group; ++n) {  // heads that share keys and values
        const Head h{p, p.segments[static_cast<std::size_t>(task.segment)], task.segment, task.kv_head * group + n};
        const std::int64_t begin = task.part * part_keys, end = std::min(begin + part_keys, h.segment.k_rows);
        HeadGradients to{.dq = nullptr,
                         .dq_stride = g.dq_stride,
                         .add_dq = g.add_dq,
                         .add_dk = g.add_dk || n > 0,
                         .add_dv = g.add_dv || n > 0,
                         .dbias = nullptr};
        if (g.dq && task.part == 0)
          to.dq = g.dq + h.segment.q_begin * g.dq_stride + h.head * p.head_dim;
        else if (g.dq)
          to.dq = extra_of(task.segment * p.heads + h.head, task.part), to.dq_stride = p.head_dim, to.add_dq = false;
        if (g.dbias && task.slice == 0)
          to.dbias = g.dbias + p.bias.offset(task.segment, h.head, 0);
        else if (g.dbias)
          to.dbias = own_dbias + bias.own(task.owner, task.slice) * bias.matrix +
                     (bias.by_head ? n * bias.rows * p.bias.row_stride : 0);
        if (h.segment.k_rows <= kShortKeys)
          BackwardShort(pass, h, to);
        else
          BackwardHead(pass, h, begin, end, chunk, to, scratch);
      }
    }
  });

  if (g.dq && parts > 1)
    parallel_for(pairs * longest_q, 256, [&](std::int64_t from, std::int64_t to) {
      for (std::int64_t at = from; at < to; ++at) {
        const std::int64_t pair = at / longest_q, i = at % longest_q;
        const AttentionSegment& segment = p.segments[static_cast<std::size_t>(pair / p.heads)];
        if (i >= segment.q_rows) continue;
        float* dq = g.dq + (segment.q_begin + i) * g.dq_stride + pair % p.heads * p.head_dim;
        for (std::int64_t part = 1; part < parts && has_part(segment, part); ++part)
          AddRow(p.head_dim, extra_of(pair, part) + i * p.head_dim, dq);
      }
    });
  if (bias.slices > 1) {
    const std::int64_t rows = bias.by_head ? group * bias.rows : bias.rows;  // rows of the matrix of a slice
    parallel_for(bias.owners * rows, 16, [&](std::int64_t from, std::int64_t to) {
      for (std::int64_t at = from; at < to; ++at) {
        const std::int64_t owner = at / rows, row = at % rows;
        const std::int64_t head = bias.kv_head(owner, 0) * group + row / bias.rows;
        float* dbias = g.dbias + p.bias.offset(bias.segment(owner, 0), head, row % bias.rows);
        for (std::int64_t slice = 1; slice < bias.slices; ++slice)
          AddRow(bias.columns, own_dbias + bias.own(owner, slice) * bias.matrix + row * p.bias.row_stride, dbias);
      }
    });
  }
}

}  // namespace
}  // namespace attention

void AttentionBackward(const AttentionProblem& problem, const float* out, const float* dout, std::int64_t out_stride,
                       const float* logsumexp, const AttentionGradients& gradients) {
  attention::Backward({problem, out, dout, out_stride, logsumexp, gradients, attention::DropoutBlocksPerRow(problem)});
}

}  // namespace attend::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace attend::kernels {

HWY_EXPORT(AttentionBackward);
void attention_backward(const AttentionProblem& problem, const float* out, const float* dout, std::int64_t out_stride,
                        const float* logsumexp, const AttentionGradients& gradients) {
  HWY_DYNAMIC_DISPATCH(AttentionBackward)(problem, out, dout, out_stride, logsumexp, gradients);
}

}  // namespace attend::kernels
#endif
