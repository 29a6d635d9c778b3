#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "attend/kernels/softmax.cpp"
#include "attend/kernels/foreach_target.h"  // IWYU pragma: keep

#include <hwy/highway.h>

#include "attend/core/threads.h"
#include "attend/kernels/softmax-inl.h"
#include "attend/kernels/softmax.h"

HWY_BEFORE_NAMESPACE();
namespace attend::kernels::HWY_NAMESPACE {
namespace {

/// Calls body(row, offset of its first element) for all rows, with about 8192 elements or more for each thread.
template <class Body>
void ForRows(std::int64_t rows, std::int64_t cols, const Body& body) {
  parallel_for(rows, 1 + 8192 / (cols + 1), [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t row = begin; row < end; ++row) body(row, row * cols);
  });
}

void Softmax(std::int64_t rows, std::int64_t cols, const float* x, RowLengths lengths, float* y) {
  const Floats d;
  ForRows(rows, cols, [&](std::int64_t row, std::int64_t offset) {
    const std::int64_t n = lengths(row, cols);
    const float* in = x + offset;
    float* out = y + offset;
    const float max = FiniteMax(RowMax(n, in));
    const float sum = RowExpSum(n, in, max, [&](auto at, FloatVector e) ATTEND_BODY { at.Store(e, out); });
    const FloatVector scale = hn::Set(d, sum == 0.f ? 0.f : 1.f / sum);
    ForVectors(n, [&](auto at) ATTEND_BODY { at.Store(hn::Mul(at.Load(out), scale), out); });
    std::fill(out + n, out + cols, 0.f);
  });
}

template <bool accumulate>
void SoftmaxBackward(std::int64_t rows, std::int64_t cols, const float* y, const float* dy, RowLengths lengths,
                     float* dx) {
  const Floats d;
  ForRows(rows, cols, [&](std::int64_t row, std::int64_t offset) {
    const std::int64_t n = lengths(row, cols);
    const float *out = y + offset, *dout = dy + offset;
    float* din = dx + offset;
    Sums dot;
    ForVectorsByFour(
        n, [&](auto at, int k) ATTEND_BODY { dot.part[k] = hn::MulAdd(at.Load(out), at.Load(dout), dot.part[k]); });
    const FloatVector mean = hn::Set(d, dot.Total());
    ForVectors(n, [&](auto at) ATTEND_BODY {
      const FloatVector p = at.Load(out), centred = hn::Sub(at.Load(dout), mean);
      at.Store(accumulate ? hn::MulAdd(p, centred, at.Load(din)) : hn::Mul(p, centred), din);
    });
    if (!accumulate) std::fill(din + n, din + cols, 0.f);
  });
}

void LogSoftmax(std::int64_t rows, std::int64_t cols, const float* x, float* y) {
  const Floats d;
  ForRows(rows, cols, [&](std::int64_t, std::int64_t offset) {
    const float* in = x + offset;
    float* out = y + offset;
    const float max = FiniteMax(RowMax(cols, in));
    const FloatVector shift = hn::Set(d, max + std::log(RowExpSum(cols, in, max)));
    ForVectors(cols, [&](auto at) ATTEND_BODY { at.Store(hn::Sub(at.Load(in), shift), out); });
  });
}

template <bool accumulate>
void LogSoftmaxBackward(std::int64_t rows, std::int64_t cols, const float* y, const float* dy, float* dx) {
  const Floats d;
  ForRows(rows, cols, [&](std::int64_t, std::int64_t offset) {
    const float *out = y + offset, *dout = dy + offset;
    float* din = dx + offset;
    Sums sums;
    ForVectorsByFour(cols, [&](auto at, int k) ATTEND_BODY { sums.part[k] = hn::Add(at.Load(dout), sums.part[k]); });
    const FloatVector total = hn::Set(d, sums.Total());
    ForVectors(cols, [&](auto at) ATTEND_BODY {
      const FloatVector g = hn::NegMulAdd(Exp(d, at.Load(out)), total, at.Load(dout));
      at.Store(accumulate ? hn::Add(at.Load(din), g) : g, din);
    });
  });
}

void SoftmaxBackwardAny(std::int64_t rows, std::int64_t cols, const float* y, const float* dy, RowLengths lengths,
                        float* dx, bool accumulate) {
  accumulate ? SoftmaxBackward<true>(rows, cols, y, dy, lengths, dx)
             : SoftmaxBackward<false>(rows, cols, y, dy, lengths, dx);
}
void LogSoftmaxBackwardAny(std::int64_t rows, std::int64_t cols, const float* y, const float* dy, float* dx,
                           bool accumulate) {
  accumulate ? LogSoftmaxBackward<true>(rows, cols, y, dy, dx) : LogSoftmaxBackward<false>(rows, cols, y, dy, dx);
}

}  // namespace
}  // namespace attend::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace attend::kernels {

HWY_EXPORT(Softmax);
HWY_EXPORT(SoftmaxBackwardAny);
HWY_EXPORT(LogSoftmax);
HWY_EXPORT(LogSoftmaxBackwardAny);

void softmax(std::int64_t rows, std::int64_t cols, const float* x, RowLengths lengths, float* y) {
  HWY_DYNAMIC_DISPATCH(Softmax)(rows, cols, x, lengths, y);
}
void softmax_backward(std::int64_t rows, std::int64_t cols, const float* y, const float* dy, RowLengths lengths,
                      float* dx, bool accumulate) {
  HWY_DYNAMIC_DISPATCH(SoftmaxBackwardAny)(rows, cols, y, dy, lengths, dx, accumulate);
}
void log_softmax(std::int64_t rows, std::int64_t cols, const float* x, float* y) {
  HWY_DYNAMIC_DISPATCH(LogSoftmax)(rows, cols, x, y);
}
void log_softmax_backward(std::int64_t rows, std::int64_t cols, const float* y, const float* dy, float* dx,
                          bool accumulate) {
  HWY_DYNAMIC_DISPATCH(LogSoftmaxBackwardAny)(rows, cols, y, dy, dx, accumulate);
}

}  // namespace attend::kernels
#endif
