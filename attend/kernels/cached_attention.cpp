#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "attend/kernels/cached_attention.cpp"
#include "attend/kernels/foreach_target.h"  // IWYU pragma: keep

#include <hwy/cache_control.h>
#include <hwy/highway.h>

#include <algorithm>
#include <type_traits>
#include <vector>

#include "attend/core/threads.h"
#include "attend/kernels/cached_attention.h"
#include "attend/kernels/gemm-inl.h"
#include "attend/kernels/scratch.h"
#include "attend/kernels/softmax-inl.h"
#include "attend/kernels/totals-inl.h"

HWY_BEFORE_NAMESPACE();
namespace attend::kernels::HWY_NAMESPACE {
namespace {

// Rows are processed together, so that each key and value is read once, if they attend to the same keys, such as the
// hypotheses of one sentence over its source, or each to some more than the one before, such as the tokens of a prompt.
constexpr std::int64_t kMostRows = 8;   // of one group
constexpr int kTileRows = 4;            // rows of q whose sums are kept in registers
constexpr std::size_t kTileKeys = 4;    // keys whose scores are computed together
constexpr std::size_t kTileValues = 8;  // values that are added before the sums are stored

struct Group {
  std::int64_t first, rows;
};

// Whether the row `next` attends to all T keys of `row`, and perhaps to more after them.
bool Continues(const std::int32_t* row, const std::int32_t* next, std::int64_t T) {
  const std::int32_t* end = std::mismatch(row, row + T, next).first;
  return std::all_of(end, row + T, [](std::int32_t page_row) { return page_row < 0; });
}

std::vector<Group> GroupsOf(const CachedAttention& p) {
  const auto T = static_cast<std::int64_t>(p.positions.size());
  std::vector<Group> groups;
  for (std::int64_t row = 0; row < p.rows; ++row) {
    const std::int32_t* seen = p.page_rows + row * p.page_rows_stride;
    if (row > 0 && groups.back().rows < kMostRows && Continues(seen - p.page_rows_stride, seen, T))
      ++groups.back().rows;
    else
      groups.push_back({row, 1});
  }
  return groups;
}

// The keys that the rows of a group attend to, and the indices of their positions. A row attends to a range of them.
struct Seen {
  struct Range {
    std::size_t begin, end;
  };
  std::vector<const float*> keys;
  std::vector<std::int64_t> positions;
  Range rows[kMostRows];

  void Find(const CachedAttention& p, const Group& group) {
    keys.clear(), positions.clear();
    for (std::int64_t r = 0; r < group.rows; ++r) {
      const std::int32_t* page_rows = p.page_rows + (group.first + r) * p.page_rows_stride;
      const auto end = static_cast<std::size_t>(
          std::count_if(page_rows, page_rows + p.positions.size(), [](std::int32_t row) { return row >= 0; }));
      const std::size_t most = p.window >= 0 ? static_cast<std::size_t>(p.window) + 1 : end;
      rows[r] = {end - std::min(end, most), end};
    }
    const std::size_t first = rows[0].begin;  // the smallest
    const std::int32_t* page_rows = p.page_rows + (group.first + group.rows - 1) * p.page_rows_stride;
    std::size_t index = 0;
    for (std::size_t t = 0; t < p.positions.size(); ++t) {
      const std::int32_t r = page_rows[t];
      if (r < 0 || index++ < first) continue;
      keys.push_back(p.positions[t].first + r * p.positions[t].row_stride);
      positions.push_back(static_cast<std::int64_t>(t));
    }
    for (std::int64_t r = 0; r < group.rows; ++r) rows[r].begin -= first, rows[r].end -= first;
  }
  // Whether all of these rows attend to the keys [begin, end).
  bool All(std::int64_t row, int count, std::size_t begin, std::size_t end) const {
    return std::all_of(rows + row, rows + row + count,
                       [&](const Range& one) { return one.begin <= begin && end <= one.end; });
  }

  // Prefetches n floats of the `count` keys or values from index i on.
  HWY_INLINE void Prefetch(std::size_t i, std::size_t count, std::int64_t offset, std::int64_t n) const {
    for (const std::size_t end = std::min(i + count, keys.size()); i < end; ++i)
      for (std::int64_t j = 0; j < n; j += 16) hwy::Prefetch(keys[i] + offset + j);
  }
};

// A matrix with one row for each row of q.
template <typename T>
struct Strided {
  T* first;
  std::int64_t stride;
  T* operator[](std::int64_t row) const { return first + row * stride; }
  Strided operator+(std::int64_t offset) const { return {first + offset, stride}; }
};

// Calls body(row, count) for tiles of the rows; count is an integral constant.
template <class Body>
HWY_INLINE void ForTiles(std::int64_t rows, const Body& body) {
  std::int64_t r = 0;
  for (; r + kTileRows <= rows; r += kTileRows) body(r, std::integral_constant<int, kTileRows>());
  switch (rows - r) {
    case 3:
      return body(r, std::integral_constant<int, 3>());
    case 2:
      return body(r, std::integral_constant<int, 2>());
    case 1:
      return body(r, std::integral_constant<int, 1>());
    default:
      return;
  }
}

// scores[r, c] = scale · q_r · k_c for M rows of q and kTileKeys keys.
template <int M>
HWY_INLINE void Scores(std::int64_t n, Strided<const float> q, const float* const* keys, float scale,
                       Strided<float> scores) {
  FloatVector sums[M][kTileKeys];
  ATTEND_UNROLL for (int r = 0; r < M; ++r) {
    ATTEND_UNROLL for (std::size_t c = 0; c < kTileKeys; ++c) sums[r][c] = hn::Zero(Floats());
  }
  ForVectors(n, [&](auto at) ATTEND_BODY {
    FloatVector ks[kTileKeys];
    ATTEND_UNROLL for (std::size_t c = 0; c < kTileKeys; ++c) ks[c] = at.Load(keys[c]);
    ATTEND_UNROLL for (int r = 0; r < M; ++r) {
      const FloatVector row = at.Load(q[r]);
      ATTEND_UNROLL for (std::size_t c = 0; c < kTileKeys; ++c) sums[r][c] = hn::MulAdd(row, ks[c], sums[r][c]);
    }
  });
  ATTEND_UNROLL for (int r = 0; r < M; ++r) StoreFour(MulFour(Totals(sums[r]), SetFour(scale)), scores[r]);
}
static_assert(kTileKeys == 4, "Totals() has four results");

// out[r] += Σ_c weights[r, c] · values_c for M rows, and N vectors of each value.
template <int M, int N>
HWY_INLINE void AddValues(std::span<const float* const> values, std::int64_t offset, Strided<const float> weights,
                          Strided<float> out) {
  const Floats d;
  FloatVector sums[M][N];
  ATTEND_UNROLL for (int r = 0; r < M; ++r) {
    ATTEND_UNROLL for (int j = 0; j < N; ++j) sums[r][j] = hn::LoadU(d, out[r] + j * gemm::kLanes);
  }
  for (std::size_t c = 0; c < values.size(); ++c) {
    FloatVector vs[N];
    ATTEND_UNROLL for (int j = 0; j < N; ++j) vs[j] = hn::LoadU(d, values[c] + offset + j * gemm::kLanes);
    ATTEND_UNROLL for (int r = 0; r < M; ++r) {
      const FloatVector weight = hn::Set(d, weights[r][c]);
      ATTEND_UNROLL for (int j = 0; j < N; ++j) sums[r][j] = hn::MulAdd(weight, vs[j], sums[r][j]);
    }
  }
  ATTEND_UNROLL for (int r = 0; r < M; ++r) {
    ATTEND_UNROLL for (int j = 0; j < N; ++j) hn::StoreU(sums[r][j], d, out[r] + j * gemm::kLanes);
  }
}

// The same for all n floats of each value.
template <int M>
HWY_INLINE void AddWholeValues(std::int64_t n, std::span<const float* const> values, std::int64_t offset,
                               Strided<const float> weights, Strided<float> out) {
  constexpr int N = gemm::kVectors;
  std::int64_t j = 0;
  for (; j + N * gemm::kLanes <= n; j += N * gemm::kLanes) AddValues<M, N>(values, offset + j, weights, out + j);
  for (; j + gemm::kLanes <= n; j += gemm::kLanes) AddValues<M, 1>(values, offset + j, weights, out + j);
  if (j == n) return;
  const Rest rest{0, static_cast<std::size_t>(n - j)};
  ATTEND_UNROLL for (int r = 0; r < M; ++r) {
    FloatVector sum = rest.Load(out[r] + j);
    for (std::size_t c = 0; c < values.size(); ++c)
      sum = hn::MulAdd(hn::Set(Floats(), weights[r][c]), rest.Load(values[c] + offset + j), sum);
    rest.Store(sum, out[r] + j);
  }
}

// Replaces n scores with their softmax.
HWY_INLINE void Softmax(std::int64_t n, float cap, const float* bias, float* w) {
  if (cap > 0) {
    const FloatVector limit = hn::Set(Floats(), cap), inverse = hn::Set(Floats(), 1 / cap);
    ForVectors(n,
               [&](auto at) ATTEND_BODY { at.Store(hn::Mul(Tanh(Floats(), hn::Mul(at.Load(w), inverse)), limit), w); });
  }
  if (bias) ForVectors(n, [&](auto at) ATTEND_BODY { at.Store(hn::Add(at.Load(w), at.Load(bias)), w); });
  const float max = FiniteMax(RowMax(n, w));
  const float sum = RowExpSum(n, w, max, [&](auto at, FloatVector e) ATTEND_BODY { at.Store(e, w); });
  const FloatVector share = hn::Set(Floats(), sum == 0.f ? 0.f : 1.f / sum);
  ForVectors(n, [&](auto at) ATTEND_BODY { at.Store(hn::Mul(at.Load(w), share), w); });
}

// The heads [begin, end) of a group. Keys and values are read in the order of memory: a few positions at a time, of
// which all heads are processed. `scores` has room for a row of `stride` floats for each row of q and head.
void AttendGroup(const CachedAttention& p, const Group& group, const Seen& seen, std::int64_t begin, std::int64_t end,
                 float* scores, std::int64_t stride, Strided<float> out, float* weights) {
  const std::int64_t D = p.head_dim, shared = p.heads / p.kv_heads;
  const Strided<const float> q{p.q + group.first * p.q_stride, p.q_stride};
  const auto scores_of = [&](std::int64_t r, std::int64_t head) {
    return scores + ((head - begin) * group.rows + r) * stride;
  };
  for (std::size_t i = 0; i < seen.keys.size(); i += kTileKeys) {
    const float* keys[kTileKeys];  // missing keys are replaced by the last one; their scores are not used
    for (std::size_t c = 0; c < kTileKeys; ++c) keys[c] = seen.keys[std::min(i + c, seen.keys.size() - 1)];
    for (std::int64_t head = begin; head < end; ++head) {
      const std::int64_t offset = head / shared * D;
      const float* of_head[kTileKeys];
      for (std::size_t c = 0; c < kTileKeys; ++c) of_head[c] = keys[c] + offset;
      if (head == begin || head % shared == 0) seen.Prefetch(i + kTileKeys, kTileKeys, offset, D);
      ForTiles(group.rows, [&](std::int64_t r, auto count) ATTEND_BODY {
        Scores<count()>(D, q + (r * p.q_stride + head * D), of_head, p.scale, {scores_of(r, head) + i, stride});
      });
    }
  }
  for (std::int64_t head = begin; head < end; ++head)
    for (std::int64_t r = 0; r < group.rows; ++r) {
      const std::int64_t row = group.first + r;
      const auto [first, last] = seen.rows[r];
      float* w = scores_of(r, head) + first;
      const auto n = static_cast<std::int64_t>(last - first);
      Softmax(n, p.cap, p.bias ? p.bias + row * p.bias_row_stride + head * p.bias_head_stride : nullptr, w);
      std::fill_n(out[row] + head * D, D, 0.f);
      if (!weights) continue;
      const auto T = static_cast<std::int64_t>(p.positions.size());
      float* to = weights + (row * p.heads + head) * T;
      std::fill_n(to, T, 0.f);
      for (std::size_t i = first; i < last; ++i) to[seen.positions[i]] = w[i - first];
    }
  for (std::size_t i = 0; i < seen.keys.size(); i += kTileValues) {
    const std::size_t count = std::min(kTileValues, seen.keys.size() - i);
    const std::span values = std::span(seen.keys).subspan(i, count);
    for (std::int64_t head = begin; head < end; ++head) {
      const std::int64_t offset = p.value_offset + head / shared * D;
      if (head == begin || head % shared == 0) seen.Prefetch(i + kTileValues, kTileValues, offset, D);
      const Strided<float> sums = out + (group.first * out.stride + head * D);
      ForTiles(group.rows, [&](std::int64_t r, auto rows) ATTEND_BODY {
        if (HWY_LIKELY(seen.All(r, rows(), i, i + count)))
          return AddWholeValues<rows()>(D, values, offset, {scores_of(r, head) + i, stride}, sums + r * out.stride);
        for (const std::int64_t end = r + rows(); r < end; ++r) {
          const std::size_t first = std::max(i, seen.rows[r].begin), last = std::min(i + count, seen.rows[r].end);
          if (first < last)
            AddWholeValues<1>(D, values.subspan(first - i, last - first), offset, {scores_of(r, head) + first, stride},
                              sums + r * out.stride);
        }
      });
    }
  }
}

void Attend(const CachedAttention& p, float* out, std::int64_t out_stride, float* weights) {
  if (p.rows == 0) return;
  const auto T = static_cast<std::int64_t>(p.positions.size());
  const std::vector<Group> groups = GroupsOf(p);
  const std::int64_t count = std::ssize(groups), stride = (T + 15) / 16 * 16;
  // Few groups are divided by heads, so that there is a task for each thread. The scores of a task fit in the L2 cache.
  constexpr std::int64_t kLeastWork = 8192, kMostScores = 1 << 16;
  const std::int64_t work = 2 * T * p.head_dim * p.rows * p.heads + 1;
  const std::int64_t wanted = std::min((4 * threads() + count - 1) / count, (work / kLeastWork + count - 1) / count);
  const std::int64_t fits = std::max<std::int64_t>(kMostScores / (stride * std::min(kMostRows, p.rows) + 1), 1);
  const std::int64_t parts = std::clamp<std::int64_t>(std::max(wanted, (p.heads + fits - 1) / fits), 1, p.heads);
  const std::int64_t heads = (p.heads + parts - 1) / parts;
  const std::int64_t worth_a_thread = 1 + kLeastWork * count * parts / work;
  // Of a prompt, the last groups have most keys. So the first and the last ones take turns.
  const auto group_at = [count](std::int64_t i) { return i % 2 == 0 ? i / 2 : count - 1 - i / 2; };
  parallel_for(count * parts, worth_a_thread, [&](std::int64_t begin, std::int64_t end) {
    Seen seen;
    const Scratch scores(std::min(kMostRows, p.rows) * heads * stride);
    std::int64_t found = -1;
    for (std::int64_t task = begin; task < end; ++task) {
      const std::int64_t index = group_at(task / parts), head = task % parts * heads;
      const Group& group = groups[static_cast<std::size_t>(index)];
      if (index != found) seen.Find(p, group), found = index;
      AttendGroup(p, group, seen, head, std::min(head + heads, p.heads), scores.data, stride, {out, out_stride},
                  weights);
    }
  });
}

}  // namespace
}  // namespace attend::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace attend::kernels {

HWY_EXPORT(Attend);

void cached_attention(const CachedAttention& problem, float* out, std::int64_t out_stride, float* weights) {
  HWY_DYNAMIC_DISPATCH(Attend)(problem, out, out_stride, weights);
}

}  // namespace attend::kernels
#endif
