#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "attend/kernels/layer_norm.cpp"
#include "attend/kernels/foreach_target.h"  // IWYU pragma: keep

#include <hwy/cache_control.h>
#include <hwy/highway.h>

#include <algorithm>
#include <cmath>

#include "attend/core/memory.h"
#include "attend/core/threads.h"
#include "attend/kernels/layer_norm.h"
#include "attend/kernels/loop-inl.h"

HWY_BEFORE_NAMESPACE();
namespace attend::kernels::HWY_NAMESPACE {
namespace {

/// One row, read three times but from the first-level cache: mean, then variance (in two steps, as the difference of
/// squares would lose the digits), then the result.
template <bool with_residual>
HWY_INLINE void NormaliseRow(std::int64_t cols, const LayerNorm& p, std::int64_t row, std::int64_t next_row) {
  const Floats d;
  const float* x = p.x + row * cols;
  float* y = p.y + row * cols;
  const float n = static_cast<float>(cols);
  // The sum is kept where it was asked for, or in the result's place until the result is known.
  float* sum = with_residual ? (p.sum ? p.sum : p.y) + row * cols : nullptr;
  Sums total;
  if constexpr (with_residual) {
    const float* residual = p.residual + row * cols;
    ForVectorsByFour(cols, [&](auto at, int k) ATTEND_BODY {
      const FloatVector v = hn::Add(at.Load(x), at.Load(residual));
      at.Store(v, sum);
      total.part[k] = hn::Add(total.part[k], v);
    });
    x = sum;
  } else {
    ForVectorsByFour(cols, [&](auto at, int k) ATTEND_BODY { total.part[k] = hn::Add(total.part[k], at.Load(x)); });
  }
  const float mean = total.Total() / n;
  const FloatVector centre = hn::Set(d, mean);
  Sums squares;
  const float* next = p.x + next_row * cols;
  ForVectorsByFour(cols, [&](auto at, int k) ATTEND_BODY {
    // This pass needs nothing from memory, so it asks for what the next two will: the result's place, the next row.
    hwy::Prefetch(y + at.index);
    hwy::Prefetch(next + at.index);
    const FloatVector v = at.Or(hn::Sub(at.Load(x), centre), 0.f);
    squares.part[k] = hn::MulAdd(v, v, squares.part[k]);
  });
  const float inverse = 1.f / std::sqrt(squares.Total() / n + p.eps);
  const FloatVector scale = hn::Set(d, inverse);
  ForVectors(cols, [&](auto at) ATTEND_BODY {
    const FloatVector v = hn::Mul(hn::Sub(at.Load(x), centre), scale);
    at.Store(hn::MulAdd(v, at.Load(p.gain), at.Load(p.bias)), y);
  });
  if (p.mean) p.mean[row] = mean;
  if (p.inverse_deviation) p.inverse_deviation[row] = inverse;
}

void LayerNormForward(std::int64_t rows, std::int64_t cols, const LayerNorm& p) {
  parallel_for(rows, 1 + 8192 / (cols + 1), [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t row = begin; row < end; ++row) {
      const std::int64_t next = std::min(row + 1, end - 1);
      p.residual ? NormaliseRow<true>(cols, p, row, next) : NormaliseRow<false>(cols, p, row, next);
    }
  });
}

/// One row of the gradient; dgain and dbias are added to.
template <bool with_dsum>
HWY_INLINE void BackwardRow(std::int64_t cols, const LayerNormGradient& p, std::int64_t row, float* dgain,
                            float* dbias) {
  const Floats d;
  const float *x = p.x + row * cols, *dy = p.dy + row * cols;
  const FloatVector centre = hn::Set(d, p.mean[row]), scale = hn::Set(d, p.inverse_deviation[row]);
  Sums sum_g, sum_gn;
  ForVectorsByFour(cols, [&](auto at, int k) ATTEND_BODY {
    const FloatVector n = hn::Mul(hn::Sub(at.Load(x), centre), scale);
    const FloatVector g = at.Load(dy), gg = hn::Mul(g, at.Load(p.gain));
    sum_g.part[k] = hn::Add(sum_g.part[k], gg);
    sum_gn.part[k] = hn::MulAdd(gg, n, sum_gn.part[k]);
    at.Store(hn::MulAdd(g, n, at.Load(dgain)), dgain);
    at.Store(hn::Add(g, at.Load(dbias)), dbias);
  });
  if (!p.dx) return;
  // scale * (g - mean(g) - n mean(g n)), with the two scales of the last term multiplied once.
  const float inverse = p.inverse_deviation[row], columns = static_cast<float>(cols);
  const float a = sum_g.Total() / columns, b = sum_gn.Total() / columns;
  const FloatVector mean_g = hn::Set(d, a), slope = hn::Set(d, b * inverse);
  float* dx = p.dx + row * cols;
  const float* dsum = with_dsum ? p.dsum + row * cols : nullptr;
  ForVectors(cols, [&](auto at) ATTEND_BODY {
    FloatVector v = hn::MulSub(at.Load(dy), at.Load(p.gain), mean_g);
    v = hn::NegMulAdd(hn::Sub(at.Load(x), centre), slope, v);
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

void LayerNormBackward(std::int64_t rows, std::int64_t cols, const LayerNormGradient& p) {
  // Chunks of rows are summed apart and added in their order, so that the result does not depend on the threads.
  const std::int64_t chunk = std::max<std::int64_t>(8, (rows + 63) / 64), chunks = (rows + chunk - 1) / chunk;
  const Block block = allocate(static_cast<std::size_t>(2 * chunks * cols) * sizeof(float));
  auto* sums = reinterpret_cast<float*>(block.get());
  parallel_for(chunks, 1, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t c = begin; c < end; ++c) {
      float *dgain = sums + 2 * c * cols, *dbias = dgain + cols;
      std::fill_n(dgain, 2 * cols, 0.f);
      for (std::int64_t row = c * chunk; row < std::min(rows, (c + 1) * chunk); ++row)
        p.dsum ? BackwardRow<true>(cols, p, row, dgain, dbias) : BackwardRow<false>(cols, p, row, dgain, dbias);
    }
  });
  AddRows(chunks, cols, 2 * cols, sums, p.dgain, p.add_to_dgain);
  AddRows(chunks, cols, 2 * cols, sums + cols, p.dbias, p.add_to_dbias);
}

}  // namespace
}  // namespace attend::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace attend::kernels {

HWY_EXPORT(LayerNormForward);
HWY_EXPORT(LayerNormBackward);
void layer_norm(std::int64_t rows, std::int64_t cols, const LayerNorm& p) {
  HWY_DYNAMIC_DISPATCH(LayerNormForward)(rows, cols, p);
}
void layer_norm_backward(std::int64_t rows, std::int64_t cols, const LayerNormGradient& p) {
  HWY_DYNAMIC_DISPATCH(LayerNormBackward)(rows, cols, p);
}

}  // namespace attend::kernels
#endif
