#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "attend/kernels/int8.cpp"
#include "attend/kernels/foreach_target.h"  // IWYU pragma: keep

#include <hwy/highway.h>

#include <algorithm>
#include <cmath>

#include "attend/core/threads.h"
#include "attend/kernels/few_rows.h"
#include "attend/kernels/int8.h"
#include "attend/kernels/loop-inl.h"
#include "attend/kernels/matmul.h"
#include "attend/kernels/scratch.h"

HWY_BEFORE_NAMESPACE();
namespace attend::kernels::HWY_NAMESPACE {
namespace {

void RestoreRows(std::int64_t n, std::int64_t k, const std::int8_t* values, const float* scale, float* w) {
  parallel_for(n, 1 + (1 << 15) / (k + 1), [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t i = begin; i < end; ++i) {
      const FloatVector s = hn::Set(Floats(), scale[i]);
      ForVectors(k, [&](auto at) ATTEND_BODY { at.Store(hn::Mul(s, at.LoadFloats(values + i * k)), w + i * k); });
    }
  });
}

}  // namespace
}  // namespace attend::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace attend::kernels {

HWY_EXPORT(RestoreRows);

void quantise_rows(std::int64_t n, std::int64_t k, const float* w, std::int8_t* values, float* scale) {
  constexpr float kMost = 127.f;
  parallel_for(n, 1 + (1 << 12) / (k + 1), [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t i = begin; i < end; ++i) {
      const float* row = w + i * k;
      float most = 0;
      for (std::int64_t j = 0; j < k; ++j) most = std::max(most, std::abs(row[j]));
      scale[i] = most / kMost;
      const float inverse = scale[i] > 0 ? 1.f / scale[i] : 0.f;
      for (std::int64_t j = 0; j < k; ++j)
        values[i * k + j] = static_cast<std::int8_t>(std::clamp(std::nearbyint(row[j] * inverse), -kMost, kMost));
    }
  });
}

void restore_rows(std::int64_t n, std::int64_t k, const std::int8_t* values, const float* scale, float* w) {
  HWY_DYNAMIC_DISPATCH(RestoreRows)(n, k, values, scale, w);
}

void matmul(const ByteProduct& s, const float* x, const std::int8_t* values, const float* scale, float* y,
            const float* bias) {
  if (s.m <= kFewRows && !UniformRows::active())
    return few_rows({s.m, s.n, s.k, s.k, s.k, s.n}, x, values, scale, y, bias);
  constexpr std::int64_t kPart =
      1 << 20;  // floats to convert at a time, so that they are still in the cache when they are multiplied
  const std::int64_t rows = std::clamp<std::int64_t>(kPart / std::max<std::int64_t>(s.k, 1) / 64 * 64, 64, 4096);
  const Scratch part(std::min(rows, s.n) * s.k);
  for (std::int64_t j = 0; j < s.n; j += rows) {
    const std::int64_t n = std::min(rows, s.n - j);
    restore_rows(n, s.k, values + j * s.k, scale + j, part.data);
    matmul({.m = s.m, .n = n, .k = s.k, .transpose_b = true, .c_stride = s.n}, x, part.data, y + j,
           bias ? bias + j : nullptr);
  }
}

}  // namespace attend::kernels
#endif
