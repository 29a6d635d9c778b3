#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "attend/kernels/additive.cpp"
#include "attend/kernels/foreach_target.h"  // IWYU pragma: keep
#include <hwy/highway.h>

#include <algorithm>

#include "attend/core/threads.h"
#include "attend/kernels/additive.h"
#include "attend/kernels/loop-inl.h"
#include "attend/kernels/math-inl.h"
#include "attend/kernels/scratch.h"

HWY_BEFORE_NAMESPACE();
namespace attend::kernels::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;
namespace {

// h = tanh(q + k) / 2 = 1/2 - 1 / (1 + e^2q e^2k). So exponentials are needed for T + S rows instead of T · S pairs,
// and each pair only needs a product and a reciprocal. The code below computes h:
//   tanh = 2 h,   1 - tanh² = 4 (1/4 - h²).
// If a number is so large that its exponential could overflow, e^(2q + 2k) is computed for each pair instead.

using V = FloatVector;

constexpr float kTame = 20.f;          // for |q|, |k| up to this, e^2q e^2k cannot overflow
constexpr std::int64_t kQueries = 16;  // queries of one forward task, which share the exponentials of the keys
constexpr std::int64_t kWidth = 64;    // features of one backward task
constexpr int kPairs = 4;              // keys that are processed together, as independent chains of instructions

/// 1 / x for 1 <= x < 1e35, within 2 ulp.
HWY_INLINE V Reciprocal(Floats d, V x) {
#if HWY_ARCH_X86
  const V r = hn::ApproximateReciprocal(x);  // at least 12 bits; a Newton step doubles them
  return hn::MulAdd(r, hn::NegMulAdd(x, r, hn::Set(d, 1.f)), r);
#else
  return hn::Div(hn::Set(d, 1.f), x);
#endif
}

/// h of a pair, from the outputs of Prepare for its query and its key.
template <bool kFactored>
HWY_INLINE V HalfTanh(Floats d, V q, V k) {
  const V one = hn::Set(d, 1.f);
  const V x = kFactored ? hn::MulAdd(q, k, one) : hn::Add(Exp(d, AtMost(d, 80.f, hn::Add(q, k))), one);
  return hn::Sub(hn::Set(d, 0.5f), Reciprocal(d, x));
}

/// Whether |x| <= kTame for the features [0, n) of all rows, which are `stride` apart.
bool Tame(std::int64_t rows, std::int64_t n, const float* x, std::int64_t stride) {
  const Floats d;
  auto wild = hn::Zero(d);
  for (std::int64_t r = 0; r < rows; ++r)
    ForVectors(n, [&](const auto& at) ATTEND_BODY {
      const auto tame = hn::Le(hn::Abs(at.Load(x + r * stride)), hn::Set(d, kTame));  // false for NaN
      wild = hn::Or(wild, hn::IfThenZeroElse(tame, hn::Set(d, 1.f)));
    });
  return hn::AllTrue(d, hn::Eq(wild, hn::Zero(d)));
}

/// to[rows, padded] = e^2x if factored, otherwise 2x.
void Prepare(bool factored, std::int64_t rows, std::int64_t n, const float* x, std::int64_t stride, float* to,
             std::int64_t padded) {
  const Floats d;
  for (std::int64_t r = 0; r < rows; ++r)
    ForVectors(n, [&](const auto& at) ATTEND_BODY {
      const V from = at.Load(x + r * stride), twice = hn::Add(from, from);
      hn::StoreU(factored ? Exp(d, twice) : twice, d, to + r * padded + at.index);
    });
}

/// The minimum number of tasks for each thread, if one task computes `work` tanh.
std::int64_t TaskGrain(std::int64_t work) { return 1 + 8192 / (work + 1); }

std::int64_t Padded(std::int64_t n) {
  const auto lanes = static_cast<std::int64_t>(hn::Lanes(Floats()));
  return (n + lanes - 1) / lanes * lanes;
}

/// Scores of one query and the keys [0, kCount). v is padded with zeros, so that the padding adds nothing.
template <bool kFactored, int kCount>
HWY_INLINE void ScoreKeys(std::int64_t padded, const float* q, const float* k, const float* v, float* scores) {
  const Floats d;
  const auto lanes = static_cast<std::int64_t>(hn::Lanes(d));
  V sums[kCount];
  for (int j = 0; j < kCount; ++j) sums[j] = hn::Zero(d);
  for (std::int64_t c = 0; c < padded; c += lanes) {
    const V query = hn::Load(d, q + c), weight = hn::Load(d, v + c);
    for (int j = 0; j < kCount; ++j)
      sums[j] = hn::MulAdd(weight, HalfTanh<kFactored>(d, query, hn::Load(d, k + j * padded + c)), sums[j]);
  }
  for (int j = 0; j < kCount; ++j) scores[j] = 2.f * hn::GetLane(hn::SumOfLanes(d, sums[j]));
}

template <bool kFactored>
void ScoreRows(std::int64_t queries, std::int64_t keys, std::int64_t padded, const float* q, const float* k,
               const float* v, float* scores, std::int64_t stride) {
  for (std::int64_t i = 0; i < queries; ++i, q += padded, scores += stride) {
    std::int64_t j = 0;
    for (; j + kPairs <= keys; j += kPairs) ScoreKeys<kFactored, kPairs>(padded, q, k + j * padded, v, scores + j);
    for (; j < keys; ++j) ScoreKeys<kFactored, 1>(padded, q, k + j * padded, v, scores + j);
  }
}

void Scores(const AdditiveShape& shape, const float* q, const float* k, const float* v, float* scores) {
  const std::int64_t T = shape.queries, S = shape.keys, D = shape.width, padded = Padded(D);
  const std::int64_t chunks = (T + kQueries - 1) / kQueries;
  const Scratch weights(padded);
  std::fill(std::copy_n(v, D, weights.data), weights.data + padded, 0.f);
  const auto run = [&](std::int64_t task) {
    const std::int64_t b = task / chunks, first = task % chunks * kQueries, queries = std::min(kQueries, T - first);
    const std::int64_t keys = shape.length(b);
    const float *some_q = q + (b * T + first) * D, *some_k = k + b * S * D;
    const Scratch rows((queries + keys) * padded);
    float* const row_k = rows.data + queries * padded;
    const bool factored = Tame(queries, D, some_q, D) && Tame(keys, D, some_k, D);
    Prepare(factored, queries, D, some_q, D, rows.data, padded);
    Prepare(factored, keys, D, some_k, D, row_k, padded);
    float* const to = scores + (b * T + first) * S;
    (factored ? ScoreRows<true> : ScoreRows<false>)(queries, keys, padded, rows.data, row_k, weights.data, to, S);
    for (std::int64_t i = 0; i < queries; ++i) std::fill(to + i * S + keys, to + (i + 1) * S, 0.f);
  };
  parallel_for(shape.batch * chunks, TaskGrain(std::min(T, kQueries) * S * D),
               [&](std::int64_t begin, std::int64_t end) {
                 for (std::int64_t task = begin; task < end; ++task) run(task);
               });
}

/// For one vector of features, all queries i and the keys j in [0, kCount), with the gradient g of each score: sum_q[i]
/// += g (1/4 - h²), sum_k[j] = Σ_i g (1/4 - h²). Returns sum_v + Σ g h.
template <bool kFactored, int kCount>
HWY_INLINE V PairGradients(std::int64_t queries, std::int64_t padded, const float* q, const float* k, const float* g,
                           std::int64_t g_stride, float* sum_q, float* sum_k, V sum_v) {
  const Floats d;
  V keys[kCount], sums[kCount];
  for (int j = 0; j < kCount; ++j) keys[j] = hn::Load(d, k + j * padded), sums[j] = hn::Zero(d);
  for (std::int64_t i = 0; i < queries; ++i) {
    const V query = hn::Load(d, q + i * padded);
    V sum = hn::Load(d, sum_q + i * padded);
    for (int j = 0; j < kCount; ++j) {
      const V half = HalfTanh<kFactored>(d, query, keys[j]), gradient = hn::Set(d, g[i * g_stride + j]);
      const V slope = hn::NegMulAdd(half, half, hn::Set(d, 0.25f));
      sum_v = hn::MulAdd(gradient, half, sum_v);
      sums[j] = hn::MulAdd(gradient, slope, sums[j]);
      sum = hn::MulAdd(gradient, slope, sum);
    }
    hn::Store(sum, d, sum_q + i * padded);
  }
  for (int j = 0; j < kCount; ++j) hn::Store(sums[j], d, sum_k + j * padded);
  return sum_v;
}

template <bool kFactored>
void Gradients(std::int64_t queries, std::int64_t keys, std::int64_t padded, const float* q, const float* k,
               const float* g, std::int64_t g_stride, float* sum_q, float* sum_k, float* sum_v) {
  const Floats d;
  for (std::int64_t c = 0; c < padded; c += static_cast<std::int64_t>(hn::Lanes(d))) {
    V sum = hn::Load(d, sum_v + c);
    std::int64_t j = 0;
    for (; j + kPairs <= keys; j += kPairs)
      sum = PairGradients<kFactored, kPairs>(queries, padded, q + c, k + j * padded + c, g + j, g_stride, sum_q + c,
                                             sum_k + j * padded + c, sum);
    for (; j < keys; ++j)
      sum = PairGradients<kFactored, 1>(queries, padded, q + c, k + j * padded + c, g + j, g_stride, sum_q + c,
                                        sum_k + j * padded + c, sum);
    hn::Store(sum, d, sum_v + c);
  }
}

/// to (+)= 4 v ⊙ sums, row by row.
void Finish(std::int64_t rows, std::int64_t n, const float* sums, std::int64_t padded, const float* v, float* to,
            std::int64_t stride, bool add) {
  const V four = hn::Set(Floats(), 4.f);
  for (std::int64_t r = 0; r < rows; ++r)
    ForVectors(n, [&](const auto& at) ATTEND_BODY {
      const V x = hn::Mul(hn::Mul(four, at.Load(v)), at.Load(sums + r * padded));
      at.Store(add ? hn::Add(at.Load(to + r * stride), x) : x, to + r * stride);
    });
}

void ScoresBackward(const AdditiveShape& shape, const float* q, const float* k, const float* v, const float* dscores,
                    const AdditiveGradient& gradient) {
  const std::int64_t T = shape.queries, S = shape.keys, D = shape.width;
  // A task computes some features of some sequences, so no two tasks write the same elements of dq and dk. dv is summed
  // over chunks of sequences, which depend on the shape only, not on the threads.
  const std::int64_t parts = (D + kWidth - 1) / kWidth, chunk = (shape.batch + 31) / 32;
  const std::int64_t chunks = chunk ? (shape.batch + chunk - 1) / chunk : 0, stride = Padded(kWidth);
  const Scratch sums_v(chunks * parts * stride);
  const auto run = [&](std::int64_t task) {
    const std::int64_t part = task % parts, first = part * kWidth, n = std::min(kWidth, D - first), padded = Padded(n);
    const Scratch rows(2 * (T + S) * padded);
    float *const row_q = rows.data, *const row_k = row_q + T * padded, *const sum_q = row_k + S * padded,
                 *const sum_k = sum_q + T * padded, *const sum_v = sums_v.data + task * stride;
    std::fill_n(sum_v, stride, 0.f);
    const std::int64_t begin = task / parts * chunk;
    for (std::int64_t b = begin; b < std::min(shape.batch, begin + chunk); ++b) {
      const std::int64_t keys = shape.length(b);
      const float *some_q = q + b * T * D + first, *some_k = k + b * S * D + first;
      const bool factored = Tame(T, n, some_q, D) && Tame(keys, n, some_k, D);
      Prepare(factored, T, n, some_q, D, row_q, padded);
      Prepare(factored, keys, n, some_k, D, row_k, padded);
      std::fill_n(sum_q, (T + S) * padded, 0.f);
      (factored ? Gradients<true> : Gradients<false>)(T, keys, padded, row_q, row_k, dscores + b * T * S, S, sum_q,
                                                      sum_k, sum_v);
      if (gradient.dq) Finish(T, n, sum_q, padded, v + first, gradient.dq + b * T * D + first, D, gradient.add_to_dq);
      if (gradient.dk) Finish(S, n, sum_k, padded, v + first, gradient.dk + b * S * D + first, D, gradient.add_to_dk);
    }
  };
  parallel_for(chunks * parts, TaskGrain(chunk * T * S * kWidth), [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t task = begin; task < end; ++task) run(task);
  });
  if (!gradient.dv) return;
  for (std::int64_t c = 0; c < D; ++c) {
    float sum = 0;
    for (std::int64_t i = 0; i < chunks; ++i) sum += sums_v.data[(i * parts + c / kWidth) * stride + c % kWidth];
    gradient.dv[c] = (gradient.add_to_dv ? gradient.dv[c] : 0.f) + 2.f * sum;
  }
}

}  // namespace
}  // namespace attend::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace attend::kernels {

HWY_EXPORT(Scores);
void additive_scores(const AdditiveShape& shape, const float* q, const float* k, const float* v, float* scores) {
  HWY_DYNAMIC_DISPATCH(Scores)(shape, q, k, v, scores);
}

HWY_EXPORT(ScoresBackward);
void additive_scores_backward(const AdditiveShape& shape, const float* q, const float* k, const float* v,
                              const float* dscores, const AdditiveGradient& gradient) {
  HWY_DYNAMIC_DISPATCH(ScoresBackward)(shape, q, k, v, dscores, gradient);
}

}  // namespace attend::kernels
#endif
