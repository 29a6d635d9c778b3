// What the memories of the NTM and the DNC share: vector loops, content addressing and the activations of scalars.
// Compiled once for each instruction set.
//
// A memory of N slots with W numbers is stored as [W, N], so that all loops run over the slots, which are many.
#if defined(ATTEND_KERNELS_MEMORY_CONTENT_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef ATTEND_KERNELS_MEMORY_CONTENT_INL_H_
#undef ATTEND_KERNELS_MEMORY_CONTENT_INL_H_
#else
#define ATTEND_KERNELS_MEMORY_CONTENT_INL_H_
#endif
#include <hwy/highway.h>

#include <cmath>
#include <cstdint>
#include <limits>

#include "attend/kernels/loop-inl.h"
#include "attend/kernels/math-inl.h"
#include "attend/kernels/memory_machine.h"

HWY_BEFORE_NAMESPACE();
namespace attend::kernels::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

/// Added to squared norms. It bounds the gradient of the cosine at slots that are almost empty.
constexpr float kNormEps = 1e-4f;

HWY_INLINE float DotOf(std::int64_t n, const float* a, const float* b) {
  Sums sums;
  ForVectorsByFour(
      n, [&](auto at, int k) ATTEND_BODY { sums.part[k] = hn::MulAdd(at.Load(a), at.Load(b), sums.part[k]); });
  return sums.Total();
}

/// y += s x.
HWY_INLINE void AddScaled(std::int64_t n, float s, const float* x, float* y) {
  const FloatVector scale = hn::Set(Floats(), s);
  ForVectors(n, [&](const auto& at) ATTEND_BODY { at.Store(hn::MulAdd(scale, at.Load(x), at.Load(y)), y); });
}

/// y = s x.
HWY_INLINE void Scale(std::int64_t n, float s, const float* x, float* y) {
  const FloatVector scale = hn::Set(Floats(), s);
  ForVectors(n, [&](const auto& at) ATTEND_BODY { at.Store(hn::Mul(scale, at.Load(x)), y); });
}

HWY_INLINE float MaxOf(std::int64_t n, const float* x) {
  constexpr float kLowest = -std::numeric_limits<float>::infinity();
  FloatVector most = hn::Set(Floats(), kLowest);
  ForVectors(n, [&](const auto& at) ATTEND_BODY { most = hn::Max(most, at.Or(at.Load(x), kLowest)); });
  return hn::GetLane(hn::MaxOfLanes(Floats(), most));
}

/// y = softmax(s x); y may be x.
HWY_INLINE void SoftmaxOf(std::int64_t n, float s, const float* x, float* y) {
  const FloatVector scale = hn::Set(Floats(), s), top = hn::Set(Floats(), MaxOf(n, x));
  FloatVector sum = hn::Zero(Floats());
  ForVectors(n, [&](const auto& at) ATTEND_BODY {
    const FloatVector e = at.Or(Exp(Floats(), hn::Mul(scale, hn::Sub(at.Load(x), top))), 0.f);
    sum = hn::Add(sum, e);
    at.Store(e, y);
  });
  Scale(n, 1.f / hn::GetLane(hn::SumOfLanes(Floats(), sum)), y, y);
}

// ---- scalars ----

inline float SigmoidOf(float x) { return 1.f / (1.f + std::exp(-x)); }
inline float SoftplusOf(float x) { return x > 20.f ? x : std::log1p(std::exp(x)); }
/// The derivative of the softplus from its value.
inline float SoftplusSlope(float y) { return -std::expm1(-y); }

HWY_INLINE void SigmoidRow(std::int64_t n, float* x) {
  ForVectors(n, [&](const auto& at) ATTEND_BODY { at.Store(Sigmoid(Floats(), at.Load(x)), x); });
}
HWY_INLINE void TanhRow(std::int64_t n, float* x) {
  ForVectors(n, [&](const auto& at) ATTEND_BODY { at.Store(Tanh(Floats(), at.Load(x)), x); });
}
/// x, from values y to gradients: x is y in, and dy · y' out.
HWY_INLINE void SigmoidRowBackward(std::int64_t n, const float* dy, float* x) {
  ForVectors(n, [&](const auto& at)
                    ATTEND_BODY { at.Store(hn::Mul(at.Load(dy), SigmoidDerivative(Floats(), at.Load(x))), x); });
}
HWY_INLINE void TanhRowBackward(std::int64_t n, const float* dy, float* x) {
  ForVectors(
      n, [&](const auto& at) ATTEND_BODY { at.Store(hn::Mul(at.Load(dy), TanhDerivative(Floats(), at.Load(x))), x); });
}
/// The gradient of a softmax over few numbers: y is the softmax in, and the gradient out.
inline void SmallSoftmaxBackward(std::int64_t n, const float* dy, float* y) {
  float along = 0;
  for (std::int64_t i = 0; i < n; ++i) along += y[i] * dy[i];
  for (std::int64_t i = 0; i < n; ++i) y[i] *= dy[i] - along;
}
inline void SmallSoftmax(std::int64_t n, float* x) {
  float top = x[0], sum = 0;
  for (std::int64_t i = 1; i < n; ++i) top = std::max(top, x[i]);
  for (std::int64_t i = 0; i < n; ++i) sum += x[i] = std::exp(x[i] - top);
  for (std::int64_t i = 0; i < n; ++i) x[i] /= sum;
}

// ---- content addressing: c = softmax(β K), K_i = k·M_i / (√(k·k + ε) √(M_i·M_i + ε)) ----

/// A memory: the numbers, and 1 / √(M_i·M_i + ε) of each slot.
struct Slots {
  std::int64_t N, W;
  const float* memory;  // [W, N]
  const float* inverse_norms;
};

inline float InverseNorm(std::int64_t n, const float* key) { return 1.f / std::sqrt(DotOf(n, key, key) + kNormEps); }

/// The cosines K, and their softmax c.
HWY_INLINE void Content(const Slots& slots, const float* key, float strength, float* cosines, float* weights) {
  const FloatVector inverse = hn::Set(Floats(), InverseNorm(slots.W, key));
  ForVectors(slots.N, [&](const auto& at) ATTEND_BODY {
    FloatVector dot = hn::Zero(Floats());
    const float* row = slots.memory;
    for (std::int64_t m = 0; m < slots.W; ++m, row += slots.N)
      dot = hn::MulAdd(hn::Set(Floats(), key[m]), at.Load(row), dot);
    at.Store(hn::Mul(hn::Mul(dot, inverse), at.Load(slots.inverse_norms)), cosines);
  });
  SoftmaxOf(slots.N, strength, cosines, weights);
}

/// From dc, the gradient of the weights, which is overwritten: dkey [W] (written), the gradient of β (returned), and
/// dmemory [W, N] (added to). `scratch` has N floats.
HWY_INLINE float ContentBackward(const Slots& slots, const float* key, float strength, const float* cosines,
                                 const float* weights, float* dc, float* dkey, float* dmemory, float* scratch) {
  const std::int64_t N = slots.N;
  const float key_inverse = InverseNorm(slots.W, key);
  const FloatVector along = hn::Set(Floats(), DotOf(N, weights, dc));
  const FloatVector scaled = hn::Set(Floats(), strength), inverse = hn::Set(Floats(), key_inverse);
  FloatVector dstrength = hn::Zero(Floats());
  // dc becomes the gradient of the product k·M_i, and `norms` the factor of M_i in the gradient of M_i.
  float* const norms = scratch;
  ForVectors(N, [&](const auto& at) ATTEND_BODY {
    const FloatVector K = at.Load(cosines), norm = at.Load(slots.inverse_norms);
    const FloatVector dscore = hn::Mul(at.Load(weights), hn::Sub(at.Load(dc), along));
    dstrength = hn::MulAdd(dscore, K, dstrength);
    const FloatVector dK = hn::Mul(scaled, dscore);
    at.Store(hn::Mul(hn::Mul(dK, inverse), norm), dc);
    at.Store(hn::Neg(hn::Mul(hn::Mul(dK, K), hn::Mul(norm, norm))), norms);
  });
  const float sum = hn::GetLane(hn::SumOfLanes(Floats(), dstrength));
  for (std::int64_t m = 0; m < slots.W; ++m) {
    const float* row = slots.memory + m * N;
    float* const drow = dmemory + m * N;
    const FloatVector k = hn::Set(Floats(), key[m]);
    Sums sums;
    ForVectorsByFour(N, [&](auto at, int part) ATTEND_BODY {
      const FloatVector ddot = at.Load(dc), x = at.Load(row);
      sums.part[part] = hn::MulAdd(ddot, x, sums.part[part]);
      at.Store(hn::MulAdd(k, ddot, hn::MulAdd(x, at.Load(norms), at.Load(drow))), drow);
    });
    dkey[m] = sums.Total() - key[m] * key_inverse * key_inverse * strength * sum;
  }
  return sum;
}

// ---- reading: r = Σ_i w_i M_i ----

HWY_INLINE void ReadSlots(const Slots& slots, const float* weights, float* read) {
  for (std::int64_t m = 0; m < slots.W; ++m) read[m] = DotOf(slots.N, weights, slots.memory + m * slots.N);
}

/// Adds to dweights [N] and dmemory [W, N].
HWY_INLINE void ReadSlotsBackward(const Slots& slots, const float* weights, const float* dread, float* dweights,
                                  float* dmemory) {
  for (std::int64_t m = 0; m < slots.W; ++m) {
    const FloatVector d = hn::Set(Floats(), dread[m]);
    const float* row = slots.memory + m * slots.N;
    float* const drow = dmemory + m * slots.N;
    ForVectors(slots.N, [&](const auto& at) ATTEND_BODY {
      at.Store(hn::MulAdd(d, at.Load(row), at.Load(dweights)), dweights);
      at.Store(hn::MulAdd(d, at.Load(weights), at.Load(drow)), drow);
    });
  }
}

// ---- writing: M_i = M_i ∏_h (1 - w_h,i e_h) + Σ_h w_h,i a_h ----

/// One write head: weights [N], erase [W] and add [W], and their gradients.
struct WriteHead {
  const float *weights, *erase, *add;
  float *dweights = nullptr, *derase = nullptr, *dadd = nullptr;  // dweights is added to, the others are written
};

/// Writes the memory after the step, and the inverse norms of its slots. The first A numbers of a slot stay as they
/// are, and the heads have erase and add for the W - A others.
HWY_INLINE void WriteSlots(std::int64_t N, std::int64_t W, std::int64_t A, const WriteHead* heads, std::int64_t count,
                           const float* before, float* after, float* inverse_norms) {
  const FloatVector one = hn::Set(Floats(), 1.f);
  ForVectors(N, [&](const auto& at) ATTEND_BODY {
    FloatVector norm = hn::Set(Floats(), kNormEps);
    for (std::int64_t m = 0; m < A; ++m) {
      const FloatVector x = at.Load(before + m * N);
      at.Store(x, after + m * N);
      norm = hn::MulAdd(x, x, norm);
    }
    for (std::int64_t m = A; m < W; ++m) {
      FloatVector x = at.Load(before + m * N), added = hn::Zero(Floats());
      for (std::int64_t h = 0; h < count; ++h) {
        const FloatVector w = at.Load(heads[h].weights);
        x = hn::Mul(x, hn::NegMulAdd(w, hn::Set(Floats(), heads[h].erase[m - A]), one));
        added = hn::MulAdd(w, hn::Set(Floats(), heads[h].add[m - A]), added);
      }
      x = hn::Add(x, added);
      at.Store(x, after + m * N);
      norm = hn::MulAdd(x, x, norm);
    }
    at.Store(hn::Div(one, hn::Sqrt(norm)), inverse_norms);
  });
}

/// dmemory: the gradient of the memory after the step in, before it out.
template <int kCount>
HWY_INLINE void WriteSlotsBackwardOf(std::int64_t N, std::int64_t W, const WriteHead* heads, std::int64_t heads_count,
                                     const float* before, float* dmemory) {
  constexpr std::int64_t kMost = kCount > 0 ? kCount : kMostHeads;
  const std::int64_t count = kCount > 0 ? kCount : heads_count;
  const FloatVector one = hn::Set(Floats(), 1.f);
  for (std::int64_t m = 0; m < W; ++m) {
    FloatVector derase[kMost], dadd[kMost];
    for (std::int64_t h = 0; h < count; ++h) derase[h] = dadd[h] = hn::Zero(Floats());
    ForVectors(N, [&](const auto& at) ATTEND_BODY {
      const FloatVector d = at.Load(dmemory + m * N), old = hn::Mul(d, at.Load(before + m * N));
      FloatVector kept[kMost], until[kMost];  // 1 - w e of each head, and the product of those before it
      FloatVector product = one;
      for (std::int64_t h = 0; h < count; ++h) {
        until[h] = product;
        kept[h] = hn::NegMulAdd(at.Load(heads[h].weights), hn::Set(Floats(), heads[h].erase[m]), one);
        product = hn::Mul(product, kept[h]);
      }
      at.Store(hn::Mul(d, product), dmemory + m * N);
      FloatVector after = one;
      for (std::int64_t h = count - 1; h >= 0; --h) {
        const FloatVector erased = hn::Mul(old, hn::Mul(until[h], after));
        const FloatVector w = at.Load(heads[h].weights);
        after = hn::Mul(after, kept[h]);
        derase[h] = hn::NegMulAdd(erased, w, derase[h]);
        dadd[h] = hn::MulAdd(d, w, dadd[h]);
        const FloatVector dw =
            hn::NegMulAdd(erased, hn::Set(Floats(), heads[h].erase[m]),
                          hn::MulAdd(d, hn::Set(Floats(), heads[h].add[m]), at.Load(heads[h].dweights)));
        at.Store(dw, heads[h].dweights);
      }
    });
    for (std::int64_t h = 0; h < count; ++h) {
      heads[h].derase[m] = hn::GetLane(hn::SumOfLanes(Floats(), derase[h]));
      heads[h].dadd[m] = hn::GetLane(hn::SumOfLanes(Floats(), dadd[h]));
    }
  }
}
HWY_INLINE void WriteSlotsBackward(std::int64_t N, std::int64_t W, const WriteHead* heads, std::int64_t count,
                                   const float* before, float* dmemory) {
  if (count == 1)
    WriteSlotsBackwardOf<1>(N, W, heads, count, before, dmemory);
  else
    WriteSlotsBackwardOf<0>(N, W, heads, count, before, dmemory);
}

}  // namespace attend::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
#endif
