#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "attend/kernels/norm.cpp"
#include "attend/kernels/foreach_target.h"  // IWYU pragma: keep

#include <hwy/cache_control.h>
#include <hwy/highway.h>

#include <algorithm>
#include <cmath>
#include <type_traits>

#include "attend/core/memory.h"
#include "attend/core/threads.h"
#include "attend/kernels/loop-inl.h"
#include "attend/kernels/norm.h"

HWY_BEFORE_NAMESPACE();
namespace attend::kernels::HWY_NAMESPACE {
namespace {

template <bool value>
using Flag = std::bool_constant<value>;

/// Normalises one row in two or three passes, which read it from the L1 cache: the residual sum and the mean, then the
/// variance, then the result. mean(x²) - mean(x)² would be faster, but loses precision. RMS normalisation needs no
/// mean, and sums the squares in the first pass.
template <bool centred, bool with_residual>
HWY_INLINE void NormaliseRow(std::int64_t cols, const Norm& p, std::int64_t row, std::int64_t next_row) {
  const Floats d;
  const float *x = p.x + row * cols, *next = p.x + next_row * cols, *gain = p.gain, *bias = p.bias;
  const float* residual = with_residual ? p.residual + row * cols : nullptr;
  float* y = p.y + row * cols;
  // The residual sum is stored in p.sum, or temporarily in y if p.sum is null.
  float* sum = with_residual ? (p.sum ? p.sum : p.y) + row * cols : nullptr;
  const float n = static_cast<float>(cols);
  const auto prefetch = [&](std::int64_t index) ATTEND_BODY {
    hwy::Prefetch(y + index);
    hwy::Prefetch(next + index);
  };
  Sums total;
  ForVectorsByFour(cols, [&](auto at, int k) ATTEND_BODY {
    FloatVector v = at.Load(x);
    if constexpr (with_residual) {
      v = hn::Add(v, at.Load(residual));
      at.Store(v, sum);
    }
    if constexpr (!centred) prefetch(at.index);
    total.part[k] = centred ? hn::Add(total.part[k], v) : hn::MulAdd(v, v, total.part[k]);
  });
  if constexpr (with_residual) x = sum;
  float variance = total.Total() / n;
  FloatVector centre = hn::Zero(d);
  if constexpr (centred) {
    const float mean = variance;
    centre = hn::Set(d, mean);
    if (p.mean) p.mean[row] = mean;
    Sums squares;
    ForVectorsByFour(cols, [&](auto at, int k) ATTEND_BODY {
      // This pass reads only from the cache, so it prefetches the memory of the result and of the next row.
      prefetch(at.index);
      const FloatVector v = at.Or(hn::Sub(at.Load(x), centre), 0.f);
      squares.part[k] = hn::MulAdd(v, v, squares.part[k]);
    });
    variance = squares.Total() / n;
  }
  const float inverse = 1.f / std::sqrt(variance + p.eps);
  if (p.inverse_deviation) p.inverse_deviation[row] = inverse;
  const FloatVector scale = hn::Set(d, inverse);
  ForVectors(cols, [&](auto at) ATTEND_BODY {
    const FloatVector v = hn::Mul(centred ? hn::Sub(at.Load(x), centre) : at.Load(x), scale);
    at.Store(bias ? hn::MulAdd(v, at.Load(gain), at.Load(bias)) : hn::Mul(v, at.Load(gain)), y);
  });
}

/// Calls f with two flags as compile-time constants.
template <class F>
HWY_INLINE void WithFlags(bool a, bool b, const F& f) {
  if (a)
    b ? f(std::true_type(), std::true_type()) : f(std::true_type(), std::false_type());
  else
    b ? f(std::false_type(), std::true_type()) : f(std::false_type(), std::false_type());
}

void NormForward(std::int64_t rows, std::int64_t cols, const Norm& p) {
  WithFlags(p.centred, p.residual != nullptr, [&]<bool centred, bool residual>(Flag<centred>, Flag<residual>) {
    parallel_for(rows, 1 + 8192 / (cols + 1), [&](std::int64_t begin, std::int64_t end) {
      for (std::int64_t row = begin; row < end; ++row)
        NormaliseRow<centred, residual>(cols, p, row, std::min(row + 1, end - 1));
    });
  });
}

/// Computes one row of dx. Adds to dgain, and if centred to dbias.
template <bool centred, bool with_dsum>
HWY_INLINE void BackwardRow(std::int64_t cols, const NormGradient& p, std::int64_t row, float* dgain, float* dbias) {
  const Floats d;
  const float *x = p.x + row * cols, *dy = p.dy + row * cols, *gain = p.gain;
  const float inverse = p.inverse_deviation[row], columns = static_cast<float>(cols);
  const FloatVector centre = centred ? hn::Set(d, p.mean[row]) : hn::Zero(d), scale = hn::Set(d, inverse);
  const auto distance = [&](auto at) ATTEND_BODY { return centred ? hn::Sub(at.Load(x), centre) : at.Load(x); };
  Sums sum_g, sum_gn;
  ForVectorsByFour(cols, [&](auto at, int k) ATTEND_BODY {
    const FloatVector n = hn::Mul(distance(at), scale);
    const FloatVector g = at.Load(dy), gg = hn::Mul(g, at.Load(gain));
    if constexpr (centred) sum_g.part[k] = hn::Add(sum_g.part[k], gg);
    sum_gn.part[k] = hn::MulAdd(gg, n, sum_gn.part[k]);
    at.Store(hn::MulAdd(g, n, at.Load(dgain)), dgain);
    if constexpr (centred) at.Store(hn::Add(g, at.Load(dbias)), dbias);
  });
  if (!p.dx) return;
  // dx = scale * (g - mean(g) - n mean(g n)), where n = scale * distance.
  const float a = sum_g.Total() / columns, b = sum_gn.Total() / columns;
  const FloatVector mean_g = hn::Set(d, a), slope = hn::Set(d, b * inverse);
  float* dx = p.dx + row * cols;
  const float* dsum = with_dsum ? p.dsum + row * cols : nullptr;
  ForVectors(cols, [&](auto at) ATTEND_BODY {
    const FloatVector g =
        centred ? hn::MulSub(at.Load(dy), at.Load(gain), mean_g) : hn::Mul(at.Load(dy), at.Load(gain));
    const FloatVector v = hn::NegMulAdd(distance(at), slope, g);
    at.Store(with_dsum ? hn::MulAdd(v, scale, at.Load(dsum)) : hn::Mul(v, scale), dx);
  });
}

/// to (+)= the sum of the rows of from [count, stride].
void AddRows(std::int64_t count, std::int64_t cols, std::int64_t stride, const float* from, float* to,
             bool accumulate) {
  if (!to) return;
  ForVectors(cols, [&](auto at) ATTEND_BODY {
    FloatVector total = accumulate ? at.Load(to) : hn::Zero(Floats());
    for (std::int64_t r = 0; r < count; ++r) total = hn::Add(total, at.Load(from + r * stride));
    at.Store(total, to);
  });
}

void NormBackward(std::int64_t rows, std::int64_t cols, const NormGradient& p) {
  // Each chunk of rows is summed separately, and the sums are added in order, so that the result does not depend on the
  // number of threads.
  const std::int64_t chunk = std::max<std::int64_t>(8, (rows + 63) / 64), chunks = (rows + chunk - 1) / chunk;
  const Block block = allocate(static_cast<std::size_t>(2 * chunks * cols) * sizeof(float));
  auto* sums = reinterpret_cast<float*>(block.get());
  WithFlags(p.centred, p.dsum != nullptr, [&]<bool centred, bool with_dsum>(Flag<centred>, Flag<with_dsum>) {
    parallel_for(chunks, 1, [&](std::int64_t begin, std::int64_t end) {
      for (std::int64_t c = begin; c < end; ++c) {
        float *dgain = sums + 2 * c * cols, *dbias = dgain + cols;
        std::fill_n(dgain, 2 * cols, 0.f);
        for (std::int64_t row = c * chunk; row < std::min(rows, (c + 1) * chunk); ++row)
          BackwardRow<centred, with_dsum>(cols, p, row, dgain, dbias);
      }
    });
  });
  AddRows(chunks, cols, 2 * cols, sums, p.dgain, p.add_to_dgain);
  AddRows(chunks, cols, 2 * cols, sums + cols, p.dbias, p.add_to_dbias);
}

}  // namespace
}  // namespace attend::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace attend::kernels {

HWY_EXPORT(NormForward);
HWY_EXPORT(NormBackward);
void norm(std::int64_t rows, std::int64_t cols, const Norm& p) { HWY_DYNAMIC_DISPATCH(NormForward)(rows, cols, p); }
void norm_backward(std::int64_t rows, std::int64_t cols, const NormGradient& p) {
  HWY_DYNAMIC_DISPATCH(NormBackward)(rows, cols, p);
}

}  // namespace attend::kernels
#endif
