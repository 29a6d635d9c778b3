#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "attend/kernels/pointer.cpp"
#include "attend/kernels/foreach_target.h"  // IWYU pragma: keep

#include <hwy/highway.h>

#include <vector>

#include "attend/kernels/pointer.h"
#include "attend/kernels/softmax-inl.h"

HWY_BEFORE_NAMESPACE();
namespace attend::kernels::HWY_NAMESPACE {
namespace {

/// log(sigmoid(x)), exact where sigmoid(x) would be 0 or 1.
float LogSigmoid(float x) { return x < 0.f ? x - std::log1p(std::exp(x)) : -std::log1p(std::exp(-x)); }

float LogAddExp(float a, float b) {
  const float larger = std::max(a, b), smaller = std::min(a, b);
  return larger + std::log1p(std::exp(smaller - larger));
}

/// The sum of the weights of each different id.
void SumCopied(const PointerRows& p, const float* weights, std::vector<float>& copied) {
  copied.assign(static_cast<std::size_t>(p.distinct), 0.f);
  for (std::int64_t s = 0; s < p.positions; ++s) copied[static_cast<std::size_t>(p.places[s])] += weights[s];
}

void PointerMixture(const PointerRows& p, float* y, float* log_sum) {
  const Floats d;
  std::vector<float> copied;
  for (std::int64_t t = 0; t < p.rows; ++t) {
    const float* x = p.logits + t * p.cols;
    float* to = y + t * p.cols;
    const float max = FiniteMax(RowMax(p.cols, x));
    log_sum[t] = max + std::log(RowExpSum(p.cols, x, max));
    const float shift = LogSigmoid(p.gate[t]) - log_sum[t], log_copy = LogSigmoid(-p.gate[t]);
    const FloatVector added = hn::Set(d, shift);
    ForVectors(p.cols, [&](auto at) ATTEND_BODY { at.Store(hn::Add(at.Load(x), added), to); });
    SumCopied(p, p.weights + t * p.weights_stride, copied);
    for (std::size_t i = 0; i < copied.size(); ++i)
      if (copied[i] > 0.f) to[p.ids[i]] = LogAddExp(x[p.ids[i]] + shift, log_copy + std::log(copied[i]));
  }
}

/// With P = softmax(logits), p = e^y and r[v] = g P[v] / p[v], the share of p[v] that is generated:
///   dlogits[u] = dy[u] r[u] - P[u] Σ_v dy[v] r[v],   dgate = Σ_v dy[v] (r[v] - g),
///   dweights[s] = dy[v] (1 - g) / p[v] with v = ids[s].
void PointerMixtureBackward(const PointerRows& p, const PointerGradient& g) {
  constexpr float kLargest = 80.f;  // e^80 is finite: a token that is impossible by both has no useful gradient
  const Floats d;
  std::vector<float> copied, of_id;
  for (std::int64_t t = 0; t < p.rows; ++t) {
    const float *x = p.logits + t * p.cols, *y = g.y + t * p.cols, *dy = g.dy + t * p.cols;
    const float log_copy = LogSigmoid(-p.gate[t]), generate = std::exp(LogSigmoid(p.gate[t]));
    Sums sums;
    ForVectorsByFour(p.cols, [&](auto at, int k) ATTEND_BODY { sums.part[k] = hn::Add(sums.part[k], at.Load(dy)); });
    const float all = sums.Total();
    float generated = all;  // Σ dy r
    SumCopied(p, p.weights + t * p.weights_stride, copied);
    of_id.resize(copied.size());
    for (std::size_t i = 0; i < copied.size(); ++i) {
      const std::int32_t v = p.ids[i];
      of_id[i] = dy[v] * std::exp(std::min(log_copy - y[v], kLargest));
      copied[i] *= of_id[i];  // dy (1 - r)
      generated -= copied[i];
    }
    if (g.dlogits) {
      float* dx = g.dlogits + t * p.cols;
      const FloatVector shift = hn::Set(d, g.log_sum[t]), factor = hn::Set(d, generated);
      ForVectors(p.cols, [&](auto at) ATTEND_BODY {
        const FloatVector dl = hn::NegMulAdd(Exp(d, hn::Sub(at.Load(x), shift)), factor, at.Load(dy));
        at.Store(g.add_logits ? hn::Add(at.Load(dx), dl) : dl, dx);
      });
      for (std::size_t i = 0; i < copied.size(); ++i) dx[p.ids[i]] -= copied[i];
    }
    if (g.dgate) g.dgate[t] = (g.add_gate ? g.dgate[t] : 0.f) + generated - generate * all;
    if (g.dweights) {
      float* dw = g.dweights + t * p.weights_stride;
      for (std::int64_t s = 0; s < p.positions; ++s)
        dw[s] = (g.add_weights ? dw[s] : 0.f) + of_id[static_cast<std::size_t>(p.places[s])];
    }
  }
}

}  // namespace
}  // namespace attend::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace attend::kernels {

HWY_EXPORT(PointerMixture);
HWY_EXPORT(PointerMixtureBackward);
void pointer_mixture(const PointerRows& p, float* y, float* log_sum) {
  HWY_DYNAMIC_DISPATCH(PointerMixture)(p, y, log_sum);
}
void pointer_mixture_backward(const PointerRows& p, const PointerGradient& gradient) {
  HWY_DYNAMIC_DISPATCH(PointerMixtureBackward)(p, gradient);
}

double coverage(std::int64_t rows, std::int64_t cols, const float* w) {
  std::vector<float> before(static_cast<std::size_t>(cols));
  double sum = 0;
  for (std::int64_t t = 0; t < rows; ++t) {
    const float* row = w + t * cols;
    float of_row = 0;
    for (std::int64_t s = 0; s < cols; ++s) {
      of_row += std::min(row[s], before[static_cast<std::size_t>(s)]);
      before[static_cast<std::size_t>(s)] += row[s];
    }
    sum += static_cast<double>(of_row);
  }
  return sum;
}

/// d/dw[t] = [w[t] <= c[t]] + the number of later rows u with c[u] < w[u], for each column.
void coverage_backward(std::int64_t rows, std::int64_t cols, const float* w, float scale, float* dw) {
  const auto n = static_cast<std::size_t>(cols);
  std::vector<float> before(n), later(n);
  for (std::int64_t t = 0; t < rows; ++t)
    for (std::size_t s = 0; s < n; ++s) before[s] += w[t * cols + static_cast<std::int64_t>(s)];
  for (std::int64_t t = rows; t-- > 0;) {
    const float* row = w + t * cols;
    float* to = dw + t * cols;
    for (std::size_t s = 0; s < n; ++s) {
      before[s] -= row[s];
      const bool own = row[s] <= before[s];
      to[s] += scale * (later[s] + (own ? 1.f : 0.f));
      later[s] += own ? 0.f : 1.f;
    }
  }
}

}  // namespace attend::kernels
#endif
