#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "attend/kernels/cross_entropy.cpp"
#include "attend/kernels/foreach_target.h"  // IWYU pragma: keep

#include <hwy/highway.h>

#include "attend/core/threads.h"
#include "attend/kernels/cross_entropy.h"
#include "attend/kernels/softmax-inl.h"

HWY_BEFORE_NAMESPACE();
namespace attend::kernels::HWY_NAMESPACE {
namespace {

struct RowSums {
  float log_sum;  // log of the sum of e^x
  float sum;      // of x
};

/// Computes log(Σ e^x) and Σ x in one pass over memory. The value that is subtracted before the exponential need not be
/// the maximum, only close to it. It is updated when an element exceeds it by more than kSlack, which is rare after the
/// first elements; then the sum so far is rescaled.
template <bool with_sum>
HWY_INLINE RowSums SumRow(std::int64_t cols, const float* x) {
  constexpr float kLowest = -std::numeric_limits<float>::infinity();
  constexpr float kSlack = 16.f;  // even 50,000 · e^16 is far from overflow
  const Floats d;
  float max = kLowest;
  FloatVector shift = hn::Zero(d), limit = hn::Set(d, kLowest);
  Sums exp_sums, sums;
  const auto follow = [&](FloatVector largest) {
    const float larger = hn::GetLane(hn::MaxOfLanes(d, largest));
    const FloatVector smaller = hn::Set(d, std::exp(max - larger));
    for (FloatVector& part : exp_sums.part) part = hn::Mul(part, smaller);
    max = larger, shift = hn::Set(d, larger), limit = hn::Set(d, larger + kSlack);
  };
  ForVectorsByFour(cols, [&](auto at, int k) ATTEND_BODY {
    const FloatVector v = at.Or(at.Load(x), kLowest);
    if (HWY_UNLIKELY(!hn::AllFalse(d, hn::Gt(v, limit)))) follow(v);
    exp_sums.part[k] = hn::Add(exp_sums.part[k], Exp(d, hn::Sub(v, shift)));
    if constexpr (with_sum) sums.part[k] = hn::Add(sums.part[k], at.Or(v, 0.f));
  });
  return {hn::GetLane(shift) + std::log(exp_sums.Total()), sums.Total()};
}

void CrossEntropy(std::int64_t rows, std::int64_t cols, const float* logits, const std::int32_t* targets,
                  std::int32_t ignored, float smoothing, float* loss, float* log_sum) {
  parallel_for(rows, 1 + 8192 / (cols + 1), [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t row = begin; row < end; ++row) {
      loss[row] = 0.f;
      if (log_sum) log_sum[row] = 0.f;
      if (targets[row] == ignored) continue;
      const float* x = logits + row * cols;
      const RowSums sums = smoothing > 0.f ? SumRow<true>(cols, x) : SumRow<false>(cols, x);
      if (log_sum) log_sum[row] = sums.log_sum;
      loss[row] = (1.f - smoothing) * (sums.log_sum - x[targets[row]]);
      if (smoothing > 0.f) loss[row] += smoothing * (sums.log_sum - sums.sum / static_cast<float>(cols));
    }
  });
}

template <bool accumulate>
void BackwardRows(std::int64_t rows, std::int64_t cols, const CrossEntropyGradient& p) {
  const Floats d;
  parallel_for(rows, 1 + 8192 / (cols + 1), [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t row = begin; row < end; ++row) {
      float* dx = p.dlogits + row * cols;
      const std::int32_t target = p.targets[row];
      if (target == p.ignored) {
        if (!accumulate) std::fill_n(dx, cols, 0.f);
        continue;
      }
      const float* x = p.logits + row * cols;
      const float scale = p.factor * p.scales[p.one_scale ? 0 : row];
      const FloatVector shift = hn::Set(d, p.log_sum[row]), factor = hn::Set(d, scale);
      const FloatVector uniform = hn::Set(d, scale * p.smoothing / static_cast<float>(cols));
      ForVectors(cols, [&](auto at) ATTEND_BODY {
        const FloatVector g = hn::MulSub(Exp(d, hn::Sub(at.Load(x), shift)), factor, uniform);
        at.Store(accumulate ? hn::Add(at.Load(dx), g) : g, dx);
      });
      dx[target] -= scale * (1.f - p.smoothing);
    }
  });
}

void CrossEntropyBackward(std::int64_t rows, std::int64_t cols, const CrossEntropyGradient& p) {
  p.accumulate ? BackwardRows<true>(rows, cols, p) : BackwardRows<false>(rows, cols, p);
}

}  // namespace
}  // namespace attend::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace attend::kernels {

HWY_EXPORT(CrossEntropy);
HWY_EXPORT(CrossEntropyBackward);
void cross_entropy(std::int64_t rows, std::int64_t cols, const float* logits, const std::int32_t* targets,
                   std::int32_t ignored, float smoothing, float* loss, float* log_sum) {
  HWY_DYNAMIC_DISPATCH(CrossEntropy)(rows, cols, logits, targets, ignored, smoothing, loss, log_sum);
}
void cross_entropy_backward(std::int64_t rows, std::int64_t cols, const CrossEntropyGradient& p) {
  HWY_DYNAMIC_DISPATCH(CrossEntropyBackward)(rows, cols, p);
}

}  // namespace attend::kernels
#endif
