#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "attend/kernels/optimizer.cpp"
#include "attend/kernels/foreach_target.h"  // IWYU pragma: keep

#include <hwy/highway.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <vector>

#include "attend/core/threads.h"
#include "attend/kernels/loop-inl.h"
#include "attend/kernels/optimizer.h"

HWY_BEFORE_NAMESPACE();
namespace attend::kernels::HWY_NAMESPACE {
namespace {

/// Calls body(tensor, begin, end) for ranges that cover all tensors. Each thread gets a contiguous share of all
/// elements.
template <class Tensor, class Body>
void ForAll(std::span<const Tensor> tensors, const Body& body) {
  std::int64_t total = 0;
  for (const Tensor& tensor : tensors) total += tensor.size;
  parallel_for(total, 8192, [&](std::int64_t begin, std::int64_t end) {
    std::int64_t first = 0;
    for (const Tensor& tensor : tensors) {
      const std::int64_t from = std::max(begin - first, std::int64_t{0}), to = std::min(end - first, tensor.size);
      if (from < to) body(tensor, from, to);
      first += tensor.size;
    }
  });
}

void Adam(std::span<const AdamTensor> tensors, const AdamRule& rule) {
  const Floats d;
  const auto set = [&](double value) { return hn::Set(d, static_cast<float>(value)); };
  const FloatVector scale = set(rule.gradient_scale), eps = set(rule.eps);
  const FloatVector take1 = set(1 - rule.beta1), keep2 = set(rule.beta2), take2 = set(1 - rule.beta2);
  ForAll(tensors, [&](const AdamTensor& t, std::int64_t begin, std::int64_t end) {
    const auto step = static_cast<double>(t.step);
    const FloatVector rate = set(rule.learning_rate / (1 - std::pow(rule.beta1, step)));
    const FloatVector correction = set(1 / std::sqrt(1 - std::pow(rule.beta2, step)));
    const FloatVector coupled = set(rule.decoupled ? 0. : static_cast<double>(t.weight_decay));
    const FloatVector keep = set(rule.decoupled ? 1 - rule.learning_rate * static_cast<double>(t.weight_decay) : 1.);
    float *parameter = t.parameter + begin, *mean = t.mean + begin, *square = t.square + begin;
    const float* gradient = t.gradient + begin;
    ForVectors(end - begin, [&](auto at) ATTEND_BODY {
      const FloatVector p = at.Load(parameter);
      const FloatVector g = hn::MulAdd(at.Load(gradient), scale, hn::Mul(p, coupled));
      const FloatVector m0 = at.Load(mean), m = hn::MulAdd(hn::Sub(g, m0), take1, m0);
      const FloatVector v = hn::MulAdd(hn::Mul(g, g), take2, hn::Mul(at.Load(square), keep2));
      at.Store(m, mean);
      at.Store(v, square);
      const FloatVector change = hn::Div(hn::Mul(m, rate), hn::MulAdd(hn::Sqrt(v), correction, eps));
      at.Store(hn::MulSub(p, keep, change), parameter);
    });
  });
}

double SumOfSquares(std::span<const Values> tensors) {
  constexpr std::int64_t kChunk = 65536;
  std::vector<Values> chunks;
  for (const Values& tensor : tensors)
    for (std::int64_t begin = 0; begin < tensor.size; begin += kChunk)
      chunks.push_back({std::min(kChunk, tensor.size - begin), tensor.data + begin});
  std::vector<double> sums(chunks.size());

  const hn::ScalableTag<double> d;
  const hn::Rebind<float, decltype(d)> df;
  const auto lanes = static_cast<std::int64_t>(hn::Lanes(d));
  parallel_for(static_cast<std::int64_t>(chunks.size()), 1, [&](std::int64_t begin, std::int64_t end) {
    for (auto c = static_cast<std::size_t>(begin); c < static_cast<std::size_t>(end); ++c) {
      const auto [n, x] = chunks[c];
      auto even = hn::Zero(d), odd = hn::Zero(d);
      std::int64_t i = 0;
      for (; i + 2 * lanes <= n; i += 2 * lanes) {
        const auto a = hn::PromoteTo(d, hn::LoadU(df, x + i)), b = hn::PromoteTo(d, hn::LoadU(df, x + i + lanes));
        even = hn::MulAdd(a, a, even), odd = hn::MulAdd(b, b, odd);
      }
      double sum = hn::GetLane(hn::SumOfLanes(d, hn::Add(even, odd)));
      for (; i < n; ++i) sum += static_cast<double>(x[i]) * static_cast<double>(x[i]);
      sums[c] = sum;
    }
  });
  return std::accumulate(sums.begin(), sums.end(), 0.0);
}

}  // namespace
}  // namespace attend::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace attend::kernels {

HWY_EXPORT(Adam);

HWY_EXPORT(SumOfSquares);

void adam(std::span<const AdamTensor> tensors, const AdamRule& rule) { HWY_DYNAMIC_DISPATCH(Adam)(tensors, rule); }

double sum_of_squares(std::span<const Values> tensors) { return HWY_DYNAMIC_DISPATCH(SumOfSquares)(tensors); }

}  // namespace attend::kernels
#endif
