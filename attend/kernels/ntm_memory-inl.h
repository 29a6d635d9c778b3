// One step of the memory of a Neural Turing Machine (Graves et al. 2014, section 3), for one sequence: the addressing
// of all heads, writing, reading, and the gradients of all of these. Compiled once for each instruction set.
#if defined(ATTEND_KERNELS_NTM_MEMORY_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef ATTEND_KERNELS_NTM_MEMORY_INL_H_
#undef ATTEND_KERNELS_NTM_MEMORY_INL_H_
#else
#define ATTEND_KERNELS_NTM_MEMORY_INL_H_
#endif
#include <hwy/highway.h>

#include <algorithm>
#include <array>
#include <numbers>

#include "attend/core/random.h"
#include "attend/kernels/memory_content-inl.h"
#include "attend/kernels/memory_machine.h"
#include "attend/kernels/scratch.h"

HWY_BEFORE_NAMESPACE();
namespace attend::kernels::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

class NtmMemory {
 public:
  explicit NtmMemory(const MemorySizes& sizes)
      : N_(sizes.slots),
        W_(sizes.width),
        S_(sizes.shifts),
        A_(sizes.address),
        V_(sizes.written()),
        reads_(sizes.read_heads),
        writes_(sizes.write_heads),
        heads_(sizes.heads()) {}

  std::int64_t ScratchSize() const { return 5 * Area() + 2 * writes_ * V_; }
  std::int64_t StateSize() const { return (W_ + heads_) * N_; }

  const float* ReadWeights(const float* record) const { return record + Weights(0); }
  const float* WriteWeights(const float* record) const { return record + Weights(reads_); }

  /// The memory before the first step: the addresses, all other numbers small and equal, all heads at the first slot.
  void Start(float* record) const {
    constexpr float kSmall = 1e-6f;
    std::fill_n(record + A_ * N_, V_ * N_, kSmall);
    for (std::int64_t i = 0; i < N_; ++i) {
      float norm = static_cast<float>(V_) * kSmall * kSmall + kNormEps;
      for (std::int64_t m = 0; m < A_; ++m) {
        const float x = AddressNumber(i, m);
        record[m * N_ + i] = x;
        norm += x * x;
      }
      record[W_ * N_ + i] = 1.f / std::sqrt(norm);
    }
    for (std::int64_t h = 0; h < heads_; ++h) {
      std::fill_n(record + Weights(h), N_, 0.f);
      record[Weights(h)] = 1.f;
    }
  }

  /// x: the interface, activated in place. Writes the record after the step, and the vectors that are read.
  void Forward(float* x, const float* before, float* after, float* read, float* scratch) const {
    Activate(x);
    const Slots old{N_, W_, before, before + W_ * N_}, now{N_, W_, after, after + W_ * N_};
    for (std::int64_t h = reads_; h < heads_; ++h) Address(x, h, old, before, after, scratch);
    std::array<WriteHead, kMostHeads> heads{};
    for (std::int64_t i = 0; i < writes_; ++i)
      heads[static_cast<std::size_t>(i)] = {after + Weights(reads_ + i), x + Erase(i), x + Erase(i) + V_};
    WriteSlots(N_, W_, A_, heads.data(), writes_, before, after, after + W_ * N_);
    for (std::int64_t h = 0; h < reads_; ++h) {
      Address(x, h, now, before, after, scratch);
      ReadSlots(now, after + Weights(h), read + h * W_);
    }
  }

  /// x: the activated interface in, its gradient before the activations out. dread [R, W]: the gradient of what was
  /// read. dstate: the gradient of the state after the step in, before it out: the memory, then the weights of heads.
  void Backward(float* x, const float* before, const float* after, const float* dread, float* dstate,
                float* scratch) const {
    const Slots old{N_, W_, before, before + W_ * N_}, now{N_, W_, after, after + W_ * N_};
    float* const dmemory = dstate;
    for (std::int64_t h = 0; h < reads_; ++h) {
      float* const dw = dstate + (W_ + h) * N_;
      ReadSlotsBackward(now, after + Weights(h), dread + h * W_, dw, dmemory);
      AddressBackward(x, h, now, before, after, dw, dmemory, scratch);
    }
    std::array<WriteHead, kMostHeads> heads{};
    float* const gradients = scratch + 5 * Area();
    for (std::int64_t i = 0; i < writes_; ++i)
      heads[static_cast<std::size_t>(i)] = {after + Weights(reads_ + i), x + Erase(i),
                                            x + Erase(i) + V_,           dstate + (W_ + reads_ + i) * N_,
                                            gradients + 2 * i * V_,      gradients + (2 * i + 1) * V_};
    WriteSlotsBackward(N_, V_, heads.data(), writes_, before + A_ * N_, dmemory + A_ * N_);
    for (std::int64_t i = 0; i < writes_; ++i) {
      const WriteHead& head = heads[static_cast<std::size_t>(i)];
      SigmoidRowBackward(V_, head.derase, x + Erase(i));
      TanhRowBackward(V_, head.dadd, x + Erase(i) + V_);
    }
    for (std::int64_t h = reads_; h < heads_; ++h)
      AddressBackward(x, h, old, before, after, dstate + (W_ + h) * N_, dmemory, scratch);
  }

 private:
  // A record: memory [W, N], inverse norms [N], and for each head the weights, then the weights by content, the
  // cosines, and the weights before sharpening, [heads, N] each.
  std::int64_t Weights(std::int64_t head) const { return (W_ + 1 + head) * N_; }
  std::int64_t ContentWeights(std::int64_t head) const { return Weights(heads_ + head); }
  std::int64_t Cosines(std::int64_t head) const { return Weights(2 * heads_ + head); }
  std::int64_t Shifted(std::int64_t head) const { return Weights(3 * heads_ + head); }

  // The interface: for each head, read heads first, the key [W], β, g, γ and the shifts [S]; then for each write head
  // erase [V] and add [V], where V = W - A numbers of a slot are written.
  std::int64_t Head(std::int64_t head) const { return head * (W_ + 3 + S_); }
  std::int64_t Erase(std::int64_t write) const { return Head(heads_) + write * 2 * V_; }

  /// Number m of the address of slot i: uniform between -√3 and √3 (a variance of 1), and the same in all networks.
  static float AddressNumber(std::int64_t i, std::int64_t m) {
    constexpr std::uint64_t kSeed = 2014;
    const auto block = philox({kSeed, static_cast<std::uint64_t>(i)}, static_cast<std::uint64_t>(m / 4));
    return std::numbers::sqrt3_v<float> * (2.f * uniform_from(block[static_cast<std::size_t>(m % 4)]) - 1.f);
  }

  /// The size of one part of the scratch memory.
  std::int64_t Area() const { return Scratch::Size(std::max(N_ + S_, W_)); }

  static constexpr float kSharpenEps = 1e-16f;  // a weight of 0 has a logarithm then

  void Activate(float* x) const {
    for (std::int64_t h = 0; h < heads_; ++h) {
      float *const key = x + Head(h), *const scalars = key + W_;
      TanhRow(W_, key);
      scalars[0] = SoftplusOf(scalars[0]);
      scalars[1] = SigmoidOf(scalars[1]);
      scalars[2] = 1.f + SoftplusOf(scalars[2]);
      SmallSoftmax(S_, scalars + 3);
    }
    for (std::int64_t i = 0; i < writes_; ++i) {
      SigmoidRow(V_, x + Erase(i));
      TanhRow(V_, x + Erase(i) + V_);
    }
  }

  /// Copies the ends of ring[half, half + N) to its sides.
  void Close(float* ring) const {
    const std::int64_t half = S_ / 2;
    std::copy_n(ring + N_, half, ring);
    std::copy_n(ring + half, half, ring + half + N_);
  }

  /// g c + (1 - g) w_before (eq. 7), with circular padding.
  void Interpolate(const float* scalars, const float* content, const float* before, float* ring) const {
    const FloatVector g = hn::Set(Floats(), scalars[1]);
    float* const inner = ring + S_ / 2;
    ForVectors(N_, [&](const auto& at) ATTEND_BODY {
      const FloatVector w = at.Load(before);
      at.Store(hn::MulAdd(g, hn::Sub(at.Load(content), w), w), inner);
    });
    Close(ring);
  }

  /// The weights of a head (eqs. 5 to 9).
  void Address(const float* x, std::int64_t h, const Slots& slots, const float* before, float* after,
               float* scratch) const {
    const float *const key = x + Head(h), *const scalars = key + W_, *const s = scalars + 3;
    Content(slots, key, scalars[0], after + Cosines(h), after + ContentWeights(h));
    float* const ring = scratch;
    Interpolate(scalars, after + ContentWeights(h), before + Weights(h), ring);
    float *const shifted = after + Shifted(h), *const weights = after + Weights(h);
    ForVectors(N_, [&](const auto& at) ATTEND_BODY {
      FloatVector sum = hn::Set(Floats(), kSharpenEps);
      for (std::int64_t m = 0; m < S_; ++m) sum = hn::MulAdd(hn::Set(Floats(), s[m]), at.Load(ring + S_ - 1 - m), sum);
      at.Store(sum, shifted);
      at.Store(Log(Floats(), sum), weights);
    });
    SoftmaxOf(N_, scalars[2], weights, weights);  // w^γ / Σ w^γ
  }

  /// dw: the gradient of the weights in, of the weights before the step out. Replaces the head's part of the interface
  /// by its gradient, and adds to dmemory.
  void AddressBackward(float* x, std::int64_t h, const Slots& slots, const float* before, const float* after, float* dw,
                       float* dmemory, float* scratch) const {
    float *const key = x + Head(h), *const scalars = key + W_, *const s = scalars + 3;
    float *const ring = scratch, *const dring = ring + Area(), *const dshifted = dring + S_ / 2;
    float *const dcontent = dring + Area(), *const norms = dcontent + Area(), *const dkey = norms + Area();
    const float *const weights = after + Weights(h), *const shifted = after + Shifted(h);
    const float *const content = after + ContentWeights(h), *const last = before + Weights(h);

    // Sharpening: the weights are the softmax of γ ln(shifted).
    const FloatVector along = hn::Set(Floats(), DotOf(N_, weights, dw)), sharpness = hn::Set(Floats(), scalars[2]);
    FloatVector dsharpness = hn::Zero(Floats());
    ForVectors(N_, [&](const auto& at) ATTEND_BODY {
      const FloatVector y = at.Or(at.Load(shifted), 1.f);
      const FloatVector d = hn::Mul(at.Load(weights), hn::Sub(at.Load(dw), along));
      dsharpness = hn::MulAdd(d, Log(Floats(), y), dsharpness);
      at.Store(hn::Div(hn::Mul(d, sharpness), y), dshifted);
    });
    Close(dring);
    // The circular shift.
    Interpolate(scalars, content, last, ring);
    std::array<float, kMostShifts> ds{};
    for (std::int64_t m = 0; m < S_; ++m) ds[static_cast<std::size_t>(m)] = DotOf(N_, dshifted, ring + S_ - 1 - m);
    // Interpolation.
    const FloatVector g = hn::Set(Floats(), scalars[1]);
    FloatVector dgate = hn::Zero(Floats());
    ForVectors(N_, [&](const auto& at) ATTEND_BODY {
      FloatVector d = hn::Zero(Floats());
      for (std::int64_t m = 0; m < S_; ++m) d = hn::MulAdd(hn::Set(Floats(), s[m]), at.Load(dring + m), d);
      dgate = hn::MulAdd(d, hn::Sub(at.Load(content), at.Load(last)), dgate);
      const FloatVector dc = hn::Mul(g, d);
      at.Store(dc, dcontent);
      at.Store(hn::Sub(d, dc), dw);
    });
    const float dstrength =
        ContentBackward(slots, key, scalars[0], after + Cosines(h), content, dcontent, dkey, dmemory, norms);
    TanhRowBackward(W_, dkey, key);
    scalars[0] = dstrength * SoftplusSlope(scalars[0]);
    scalars[1] = hn::GetLane(hn::SumOfLanes(Floats(), dgate)) * scalars[1] * (1.f - scalars[1]);
    scalars[2] = hn::GetLane(hn::SumOfLanes(Floats(), dsharpness)) * SoftplusSlope(scalars[2] - 1.f);
    SmallSoftmaxBackward(S_, ds.data(), s);
  }

  std::int64_t N_, W_, S_, A_, V_, reads_, writes_, heads_;
};

}  // namespace attend::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
#endif
