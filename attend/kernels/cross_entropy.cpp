#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "attend/kernels/cross_entropy.cpp"
#include "attend/kernels/foreach_target.h"  // IWYU pragma: keep

#include <hwy/highway.h>

#include "attend/core/threads.h"
#include "attend/kernels/cross_entropy.h"
#include "attend/kernels/softmax-inl.h"

HWY_BEFORE_NAMESPACE();
namespace attend::kernels::HWY_NAMESPACE {

constexpr std::int64_t kPart = 2048;  // columns: read twice, the second time from the first-level cache

struct RowSums {
  float log_sum;  // log of the sum of e^x
  float sum;      // of x
};

/// One pass over memory: the maximum may grow from part to part, and the sum so far is scaled down when it does.
template <bool with_sum>
HWY_INLINE RowSums SumRow(std::int64_t cols, const float* x) {
  float max = -std::numeric_limits<float>::infinity();
  double exp_sum = 0, sum = 0;
  for (std::int64_t begin = 0; begin < cols; begin += kPart) {
    const std::int64_t n = std::min(kPart, cols - begin);
    const float larger = std::max(max, RowMax(n, x + begin));
    if (larger > max) exp_sum *= std::exp(max - larger), max = larger;
    exp_sum += RowExpSum(n, x + begin, FiniteMax(max));
    if constexpr (with_sum) {
      Sums part;
      ForVectorsByFour(n,
                       [&](auto at, int k) ATTEND_BODY { part.part[k] = hn::Add(part.part[k], at.Load(x + begin)); });
      sum += part.Total();
    }
  }
  return {FiniteMax(max) + static_cast<float>(std::log(exp_sum)), static_cast<float>(sum)};
}

void CrossEntropy(std::int64_t rows, std::int64_t cols, const float* logits, const std::int32_t* targets,
                  std::int32_t ignored, float smoothing, float* loss, float* log_sum) {
  parallel_for(rows, 1 + 8192 / (cols + 1), [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t row = begin; row < end; ++row) {
      loss[row] = log_sum[row] = 0.f;
      if (targets[row] == ignored) continue;
      const float* x = logits + row * cols;
      const RowSums sums = smoothing > 0.f ? SumRow<true>(cols, x) : SumRow<false>(cols, x);
      log_sum[row] = sums.log_sum;
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
