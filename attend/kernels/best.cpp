#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "attend/kernels/best.cpp"
#include "attend/kernels/foreach_target.h"  // IWYU pragma: keep

#include <hwy/highway.h>

#include <cmath>
#include <functional>
#include <utility>
#include <vector>

#include "attend/core/threads.h"
#include "attend/kernels/best.h"
#include "attend/kernels/softmax-inl.h"

HWY_BEFORE_NAMESPACE();
namespace attend::kernels::HWY_NAMESPACE {
namespace {

/// The largest element of each block; the last one may be shorter.
HWY_INLINE void BlockMaxima(std::int64_t n, const float* x, std::int64_t block, std::vector<float>& maxima) {
  maxima.clear();
  for (std::int64_t i = 0; i < n; i += block) maxima.push_back(RowMax(std::min(block, n - i), x + i));
}

/// The k largest elements of a row. At least k elements are as large as the k-th largest block maximum, so blocks with
/// a smaller maximum can be skipped.
void BestOfRow(std::int64_t n, const float* x, std::int64_t k, float* log_sum_exp, float* values,
               std::int32_t* places) {
  constexpr std::int64_t kBlock = 256;
  constexpr float kLowest = -std::numeric_limits<float>::infinity();
  thread_local std::vector<float> maxima, ordered;
  thread_local std::vector<std::pair<float, std::int32_t>> found;
  BlockMaxima(n, x, kBlock, maxima);
  float threshold = kLowest;
  ordered = maxima;
  if (k > 0 && k <= static_cast<std::int64_t>(ordered.size())) {
    std::nth_element(ordered.begin(), ordered.begin() + (k - 1), ordered.end(), std::greater<>());
    threshold = ordered[static_cast<std::size_t>(k - 1)];
  }
  const float max = maxima.empty() ? kLowest : *std::max_element(maxima.begin(), maxima.end());
  *log_sum_exp = max + std::log(RowExpSum(n, x, max));
  if (max == kLowest) {  // all elements are -infinity or NaN
    *log_sum_exp = kLowest;
    for (std::int64_t i = 0; i < n; ++i)
      if (std::isnan(x[i])) *log_sum_exp = x[i];
  }

  found.clear();
  for (std::size_t b = 0; b < maxima.size(); ++b) {
    if (!(maxima[b] >= threshold)) continue;
    const std::int64_t begin = static_cast<std::int64_t>(b) * kBlock;
    for (std::int64_t i = begin; i < std::min(begin + kBlock, n); ++i)
      if (x[i] >= threshold && x[i] > kLowest) found.emplace_back(x[i], static_cast<std::int32_t>(i));
  }
  const std::size_t count = std::min(found.size(), static_cast<std::size_t>(k));
  std::partial_sort(
      found.begin(), found.begin() + static_cast<std::ptrdiff_t>(count), found.end(),
      [](const auto& a, const auto& b) { return a.first != b.first ? a.first > b.first : a.second < b.second; });
  for (std::size_t i = 0; i < count; ++i) values[i] = found[i].first, places[i] = found[i].second;
  std::fill(values + count, values + k, kLowest);
  std::fill(places + count, places + k, -1);
}

void BestOfRows(std::int64_t rows, std::int64_t cols, const float* x, std::int64_t k, float* log_sum_exp, float* values,
                std::int32_t* places) {
  parallel_for(rows, 1 + 8192 / (cols + 1), [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t row = begin; row < end; ++row)
      BestOfRow(cols, x + row * cols, k, log_sum_exp + row, values + row * k, places + row * k);
  });
}

}  // namespace
}  // namespace attend::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace attend::kernels {

HWY_EXPORT(BestOfRows);

void best_of_rows(std::int64_t rows, std::int64_t cols, const float* x, std::int64_t k, float* log_sum_exp,
                  float* values, std::int32_t* places) {
  HWY_DYNAMIC_DISPATCH(BestOfRows)(rows, cols, x, k, log_sum_exp, values, places);
}

}  // namespace attend::kernels
#endif
