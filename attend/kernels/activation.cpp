#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "attend/kernels/activation.cpp"
#include "attend/kernels/foreach_target.h"  // IWYU pragma: keep

#include <hwy/highway.h>

#include <algorithm>
#include <type_traits>

#include "attend/core/memory.h"
#include "attend/core/threads.h"
#include "attend/kernels/activation-inl.h"
#include "attend/kernels/activation.h"
#include "attend/kernels/loop-inl.h"

HWY_BEFORE_NAMESPACE();
namespace attend::kernels::HWY_NAMESPACE {
namespace {

constexpr std::int64_t kGrain = 8192;  // minimum number of elements for each thread

/// y = f(x) over n elements.
template <class F>
void Map(std::int64_t n, const float* x, float* y, const F& f) {
  parallel_for(n, kGrain, [&](std::int64_t begin, std::int64_t end) {
    ForVectors(end - begin, [&](auto at) ATTEND_BODY { at.Store(f(Floats(), at.Load(x + begin)), y + begin); });
  });
}

void BiasActivation(std::int64_t rows, std::int64_t cols, const float* x, const float* bias, Activation activation,
                    float* pre, float* y) {
  const bool keep = pre && pre != y;
  WithActivation(activation, [&](const auto& f, const auto&, const auto&) {
    if (!bias && (!keep || pre == x)) return Map(rows * cols, x, y, f);
    parallel_for(rows, std::max<std::int64_t>(1, kGrain / std::max<std::int64_t>(cols, 1)),
                 [&](std::int64_t begin, std::int64_t end) {
                   for (std::int64_t r = begin * cols; r < end * cols; r += cols)
                     ForVectors(cols, [&](auto at) ATTEND_BODY {
                       FloatVector v = at.Load(x + r);
                       if (bias) v = hn::Add(v, at.Load(bias));
                       if (keep) at.Store(v, pre + r);
                       at.Store(f(Floats(), v), y + r);
                     });
                 });
  });
}

/// One row: dx = dy * f'(saved), sums += dx.
template <bool identity, class Derivative>
HWY_INLINE void BackwardRow(std::int64_t cols, const float* dy, const float* saved, float* dx, bool add_to_dx,
                            float* sums, const Derivative& derivative) {
  ForVectors(cols, [&](auto at) ATTEND_BODY {
    FloatVector g = at.Load(dy);
    if constexpr (!identity) g = hn::Mul(g, derivative(Floats(), at.Load(saved)));
    if (sums) at.Store(hn::Add(at.Load(sums), g), sums);
    if (dx) at.Store(add_to_dx ? hn::Add(at.Load(dx), g) : g, dx);
  });
}

void BiasActivationBackward(std::int64_t rows, std::int64_t cols, const float* dy, const float* saved,
                            Activation activation, const ActivationGradient& gradient) {
  // For dbias, each chunk of rows is summed separately, and the sums are added in order, so that the result does not
  // depend on the number of threads. Without dbias, all rows are processed as one long row.
  const std::int64_t chunk = gradient.dbias ? std::max<std::int64_t>(8, (rows + 63) / 64) : rows;
  const std::int64_t chunks = rows > 0 ? (rows + chunk - 1) / chunk : 0;
  Block block = gradient.dbias ? allocate(static_cast<std::size_t>(chunks * cols) * sizeof(float)) : Block();
  auto* sums = reinterpret_cast<float*>(block.get());

  WithActivation(activation, [&](const auto&, const auto& derivative, const auto&) {
    const auto rows_at = [&]<bool identity>(std::bool_constant<identity>) {
      if (!gradient.dbias)
        return parallel_for(rows * cols, kGrain, [&](std::int64_t begin, std::int64_t end) {
          BackwardRow<identity>(end - begin, dy + begin, identity ? nullptr : saved + begin, gradient.dx + begin,
                                gradient.add_to_dx, nullptr, derivative);
        });
      parallel_for(chunks, 1, [&](std::int64_t begin, std::int64_t end) {
        for (std::int64_t c = begin; c < end; ++c) {
          float* sum = sums + c * cols;
          std::fill_n(sum, cols, 0.f);
          for (std::int64_t r = c * chunk * cols; r < std::min(rows, (c + 1) * chunk) * cols; r += cols)
            BackwardRow<identity>(cols, dy + r, identity ? nullptr : saved + r, gradient.dx ? gradient.dx + r : nullptr,
                                  gradient.add_to_dx, sum, derivative);
        }
      });
    };
    activation == Activation::none ? rows_at(std::true_type()) : rows_at(std::false_type());
  });

  if (!gradient.dbias) return;
  parallel_for(cols, 1024, [&](std::int64_t begin, std::int64_t end) {
    ForVectors(end - begin, [&](auto at) ATTEND_BODY {
      FloatVector total = gradient.add_to_dbias ? at.Load(gradient.dbias + begin) : hn::Zero(Floats());
      for (std::int64_t c = 0; c < chunks; ++c) total = hn::Add(total, at.Load(sums + c * cols + begin));
      at.Store(total, gradient.dbias + begin);
    });
  });
}

}  // namespace
}  // namespace attend::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace attend::kernels {

HWY_EXPORT(BiasActivation);
HWY_EXPORT(BiasActivationBackward);

void bias_activation(std::int64_t rows, std::int64_t cols, const float* x, const float* bias, Activation activation,
                     float* pre, float* y) {
  HWY_DYNAMIC_DISPATCH(BiasActivation)(rows, cols, x, bias, activation, pre, y);
}
void bias_activation_backward(std::int64_t rows, std::int64_t cols, const float* dy, const float* saved,
                              Activation activation, const ActivationGradient& gradient) {
  HWY_DYNAMIC_DISPATCH(BiasActivationBackward)(rows, cols, dy, saved, activation, gradient);
}

}  // namespace attend::kernels
#endif
