#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "attend/kernels/cached_attention.cpp"
#include "attend/kernels/foreach_target.h"  // IWYU pragma: keep

#include <hwy/cache_control.h>
#include <hwy/highway.h>

#include <algorithm>
#include <vector>

#include "attend/core/threads.h"
#include "attend/kernels/cached_attention.h"
#include "attend/kernels/gemm-inl.h"
#include "attend/kernels/softmax-inl.h"
#include "attend/kernels/totals-inl.h"

HWY_BEFORE_NAMESPACE();
namespace attend::kernels::HWY_NAMESPACE {
namespace {

// The keys that one row attends to.
struct Seen {
  std::vector<const float*> keys;
  std::vector<float> weights;
  std::vector<std::int64_t> positions;

  void Find(const CachedAttention& p, std::int64_t row) {
    keys.clear(), positions.clear();
    for (std::size_t t = 0; t < p.positions.size(); ++t) {
      const std::int32_t r = p.page_rows[row * p.page_rows_stride + static_cast<std::int64_t>(t)];
      if (r < 0) continue;
      keys.push_back(p.positions[t].first + r * p.positions[t].row_stride);
      positions.push_back(static_cast<std::int64_t>(t));
    }
    weights.resize(keys.size());
  }
};

// Prefetches the n floats after these, which belong to the next head. The hardware prefetcher does not recognise this
// access pattern.
HWY_INLINE void PrefetchBehind(std::int64_t n, const float* p) {
  for (std::int64_t i = 0; i < n; i += 16) hwy::Prefetch(p + n + i);
}

// scores[i] = scale · q · k_i
void Scores(std::int64_t n, const float* HWY_RESTRICT q, std::span<const float* const> keys, std::int64_t offset,
            float scale, float* scores) {
  const Floats d;
  for (std::size_t i = 0; i < keys.size(); i += 4) {
    const std::size_t count = std::min<std::size_t>(4, keys.size() - i);
    const float* k[4];  // missing keys are replaced by the last one; their results are not used
    ATTEND_UNROLL for (std::size_t r = 0; r < 4; ++r) k[r] = keys[i + std::min(r, count - 1)] + offset;
    ATTEND_UNROLL for (std::size_t r = 0; r < 4; ++r) PrefetchBehind(n, k[r]);
    FloatVector sum[4] = {hn::Zero(d), hn::Zero(d), hn::Zero(d), hn::Zero(d)};
    ForVectors(n, [&](auto at) ATTEND_BODY {
      const FloatVector qs = at.Load(q);
      ATTEND_UNROLL for (int r = 0; r < 4; ++r) sum[r] = hn::MulAdd(qs, at.Load(k[r]), sum[r]);
    });
    float totals[4];
    StoreFour(Totals(sum), totals);
    for (std::size_t r = 0; r < count; ++r) scores[i + r] = scale * totals[r];
  }
}

// out = Σ_i weights[i] · v_i, for N vectors of each value at v_i + offset
template <int N>
HWY_INLINE void WeightedSum(std::span<const float* const> values, const float* weights, std::int64_t offset,
                            float* out) {
  const Floats d;
  FloatVector sum[N];
  ATTEND_UNROLL for (int j = 0; j < N; ++j) sum[j] = hn::Zero(d);
  for (std::size_t i = 0; i < values.size(); ++i) {
    const FloatVector weight = hn::Set(d, weights[i]);
    const float* v = values[i] + offset;
    ATTEND_UNROLL for (int j = 0; j < N; ++j) sum[j] = hn::MulAdd(weight, hn::LoadU(d, v + j * gemm::kLanes), sum[j]);
  }
  ATTEND_UNROLL for (int j = 0; j < N; ++j) hn::StoreU(sum[j], d, out + j * gemm::kLanes);
}

void Values(std::int64_t n, std::span<const float* const> values, const float* weights, std::int64_t offset,
            float* out) {
  const Floats d;
  for (const float* value : values) PrefetchBehind(n, value + offset);
  std::int64_t j = 0;
  for (; j + 8 * gemm::kLanes <= n; j += 8 * gemm::kLanes) WeightedSum<8>(values, weights, offset + j, out + j);
  for (; j + 4 * gemm::kLanes <= n; j += 4 * gemm::kLanes) WeightedSum<4>(values, weights, offset + j, out + j);
  for (; j + gemm::kLanes <= n; j += gemm::kLanes) WeightedSum<1>(values, weights, offset + j, out + j);
  if (j == n) return;
  const Rest rest{0, static_cast<std::size_t>(n - j)};
  FloatVector sum = hn::Zero(d);
  for (std::size_t i = 0; i < values.size(); ++i)
    sum = hn::MulAdd(hn::Set(d, weights[i]), rest.Load(values[i] + offset + j), sum);
  rest.Store(sum, out + j);
}

void Attend(const CachedAttention& p, float* out, std::int64_t out_stride, float* weights) {
  const auto T = static_cast<std::int64_t>(p.positions.size());
  const std::int64_t work = 2 * T * p.head_dim + 1, group = p.heads / p.kv_heads;
  parallel_for(p.rows * p.heads, 1 + 8192 / work, [&](std::int64_t begin, std::int64_t end) {
    Seen seen;
    std::int64_t found = -1;
    for (std::int64_t task = begin; task < end; ++task) {
      const std::int64_t row = task / p.heads, head = task % p.heads;
      const std::int64_t first = head * p.head_dim, kv_first = head / group * p.head_dim;
      if (row != found) seen.Find(p, row), found = row;
      const auto n = static_cast<std::int64_t>(seen.keys.size());
      float* w = seen.weights.data();
      Scores(p.head_dim, p.q + row * p.q_stride + first, seen.keys, kv_first, p.scale, w);
      if (p.bias) {
        const float* bias = p.bias + row * p.bias_row_stride + head * p.bias_head_stride;
        ForVectors(n, [&](auto at) ATTEND_BODY { at.Store(hn::Add(at.Load(w), at.Load(bias)), w); });
      }
      const float max = FiniteMax(RowMax(n, w));
      const float sum = RowExpSum(n, w, max, [&](auto at, FloatVector e) ATTEND_BODY { at.Store(e, w); });
      const FloatVector share = hn::Set(Floats(), sum == 0.f ? 0.f : 1.f / sum);
      ForVectors(n, [&](auto at) ATTEND_BODY { at.Store(hn::Mul(at.Load(w), share), w); });
      Values(p.head_dim, seen.keys, w, p.value_offset + kv_first, out + row * out_stride + first);
      if (!weights) continue;
      std::fill_n(weights + task * T, T, 0.f);
      for (std::size_t i = 0; i < seen.positions.size(); ++i) weights[task * T + seen.positions[i]] = w[i];
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
