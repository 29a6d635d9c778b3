// One step of the memory of a Differentiable Neural Computer (Graves et al. 2016, Methods), for one sequence:
// allocation, writing, temporal links, reading, and the gradients of all of these. Compiled once for each instruction
// set.
#if defined(ATTEND_KERNELS_DNC_MEMORY_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef ATTEND_KERNELS_DNC_MEMORY_INL_H_
#undef ATTEND_KERNELS_DNC_MEMORY_INL_H_
#else
#define ATTEND_KERNELS_DNC_MEMORY_INL_H_
#endif
#include <hwy/highway.h>

#include <algorithm>
#include <numeric>

#include "attend/kernels/memory_content-inl.h"
#include "attend/kernels/memory_machine.h"
#include "attend/kernels/scratch.h"

HWY_BEFORE_NAMESPACE();
namespace attend::kernels::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

class DncMemory {
 public:
  explicit DncMemory(const MemorySizes& sizes) : N_(sizes.slots), W_(sizes.width), R_(sizes.read_heads) {}

  std::int64_t ScratchSize() const { return 7 * Area(); }
  std::int64_t StateSize() const { return (W_ + R_ + 3 + N_) * N_; }

  const float* ReadWeights(const float* record) const { return record + ReadWeight(0); }
  const float* WriteWeights(const float* record) const { return record + WriteWeight(); }

  /// The memory before the first step: everything is zero.
  void Start(float* record) const {
    std::fill_n(record, RecordSize(), 0.f);
    std::fill_n(record + Norms(), N_, 1.f / std::sqrt(kNormEps));
  }
  std::int64_t RecordSize() const { return Links() + N_ * N_; }

  void Forward(float* x, const float* before, float* after, float* read, float* scratch) const {
    Activate(x);
    const Slots old{N_, W_, before, before + Norms()}, now{N_, W_, after, after + Norms()};
    Allocate(x, before, after);
    // The write weights: w = g_w (g_a a + (1 - g_a) c).
    Content(old, x + WriteKey(), x[WriteStrength()], after + WriteCosines(), after + WriteContent());
    float* const w = after + WriteWeight();
    const FloatVector allocation = hn::Set(Floats(), x[AllocationGate()]), gate = hn::Set(Floats(), x[WriteGate()]);
    FloatVector sum = hn::Zero(Floats());
    ForVectors(N_, [&](const auto& at) ATTEND_BODY {
      const FloatVector c = at.Load(after + WriteContent()), a = at.Load(after + Allocation());
      const FloatVector y = hn::Mul(gate, hn::MulAdd(allocation, hn::Sub(a, c), c));
      sum = hn::Add(sum, y);
      at.Store(y, w);
    });
    const WriteHead head{w, x + EraseVector(), x + WriteVector()};
    WriteSlots(N_, W_, 0, &head, 1, before, after, after + Norms());
    Link(before, after);
    // Precedence: p = (1 - Σ w) p_before + w.
    const FloatVector left = hn::Set(Floats(), 1.f - hn::GetLane(hn::SumOfLanes(Floats(), sum)));
    ForVectors(N_, [&](const auto& at) ATTEND_BODY {
      at.Store(hn::MulAdd(left, at.Load(before + Precedence()), at.Load(w)), after + Precedence());
    });
    // The read weights: w = π_1 b + π_2 c + π_3 f.
    for (std::int64_t r = 0; r < R_; ++r) {
      const float* const last = before + ReadWeight(r);
      float *const forward = after + ForwardWeights(r), *const backward = after + BackwardWeights(r);
      std::fill_n(backward, N_, 0.f);
      for (std::int64_t i = 0; i < N_; ++i) {
        const float* const row = after + Links() + i * N_;
        forward[i] = DotOf(N_, row, last);
        if (last[i] != 0.f) AddScaled(N_, last[i], row, backward);
      }
      Content(now, x + ReadKey(r), x[ReadStrength(r)], after + ReadCosines(r), after + ReadContent(r));
      const float* const modes = x + Modes(r);
      const FloatVector m0 = hn::Set(Floats(), modes[0]), m1 = hn::Set(Floats(), modes[1]);
      const FloatVector m2 = hn::Set(Floats(), modes[2]);
      ForVectors(N_, [&](const auto& at) ATTEND_BODY {
        const FloatVector y = hn::Mul(m0, at.Load(backward));
        at.Store(hn::MulAdd(m2, at.Load(forward), hn::MulAdd(m1, at.Load(after + ReadContent(r)), y)),
                 after + ReadWeight(r));
      });
      ReadSlots(now, after + ReadWeight(r), read + r * W_);
    }
    static_cast<void>(scratch);
  }

  /// As NtmMemory::Backward. dstate: memory [W, N], read weights [R, N], write weights, usage and precedence [N] each,
  /// links [N, N].
  void Backward(float* x, const float* before, const float* after, const float* dread, float* dstate,
                float* scratch) const {
    const Slots old{N_, W_, before, before + Norms()}, now{N_, W_, after, after + Norms()};
    float *const dmemory = dstate, *const dreads = dstate + W_ * N_, *const dwrite = dreads + R_ * N_;
    float *const dusage = dwrite + N_, *const dprecedence = dusage + N_, *const dlinks = dprecedence + N_;
    float *const dcontent = scratch, *const norms = dcontent + Area(), *const dkey = norms + Area();
    float *const one = dkey + Area(), *const two = one + Area(), *const derase = two + Area();
    float* const dvector = derase + Area();

    // ---- reading ----
    for (std::int64_t r = 0; r < R_; ++r) {
      float *const dw = dreads + r * N_, *const modes = x + Modes(r);
      ReadSlotsBackward(now, after + ReadWeight(r), dread + r * W_, dw, dmemory);
      const float* const last = before + ReadWeight(r);
      float dmodes[3] = {DotOf(N_, dw, after + BackwardWeights(r)), DotOf(N_, dw, after + ReadContent(r)),
                         DotOf(N_, dw, after + ForwardWeights(r))};
      Scale(N_, modes[1], dw, dcontent);
      const float dstrength = ContentBackward(now, x + ReadKey(r), x[ReadStrength(r)], after + ReadCosines(r),
                                              after + ReadContent(r), dcontent, dkey, dmemory, norms);
      std::copy_n(dkey, W_, x + ReadKey(r));
      x[ReadStrength(r)] = dstrength * SoftplusSlope(x[ReadStrength(r)] - 1.f);
      float *const dbackward = one, *const dforward = two;
      Scale(N_, modes[0], dw, dbackward);
      Scale(N_, modes[2], dw, dforward);
      SmallSoftmaxBackward(3, dmodes, modes);
      std::fill_n(dw, N_, 0.f);  // from here on, the gradient of the weights before the step
      for (std::int64_t i = 0; i < N_; ++i) {
        const float* const row = after + Links() + i * N_;
        float* const drow = dlinks + i * N_;
        const FloatVector df = hn::Set(Floats(), dforward[i]), w = hn::Set(Floats(), last[i]);
        Sums sums;
        ForVectorsByFour(N_, [&](auto at, int part) ATTEND_BODY {
          const FloatVector L = at.Load(row), db = at.Load(dbackward);
          at.Store(hn::MulAdd(df, at.Load(last), hn::MulAdd(w, db, at.Load(drow))), drow);
          at.Store(hn::MulAdd(df, L, at.Load(dw)), dw);
          sums.part[part] = hn::MulAdd(L, db, sums.part[part]);
        });
        dw[i] += sums.Total();
      }
    }

    // ---- precedence and links ----
    const float *const w = after + WriteWeight(), *const p = before + Precedence();
    const FloatVector along = hn::Set(Floats(), DotOf(N_, dprecedence, p));
    FloatVector sum = hn::Zero(Floats());
    ForVectors(N_, [&](const auto& at) ATTEND_BODY {
      sum = hn::Add(sum, at.Load(w));
      at.Store(hn::Add(at.Load(dwrite), hn::Sub(at.Load(dprecedence), along)), dwrite);
    });
    Scale(N_, 1.f - hn::GetLane(hn::SumOfLanes(Floats(), sum)), dprecedence, dprecedence);
    LinkBackward(w, p, before + Links(), dwrite, dprecedence, dlinks);

    // ---- writing ----
    const WriteHead head{w, x + EraseVector(), x + WriteVector(), dwrite, derase, dvector};
    WriteSlotsBackward(N_, W_, &head, 1, before, dmemory);
    SigmoidRowBackward(W_, derase, x + EraseVector());
    std::copy_n(dvector, W_, x + WriteVector());
    const float *const c = after + WriteContent(), *const a = after + Allocation();
    const float allocation = x[AllocationGate()], gate = x[WriteGate()];
    const float with_allocation = DotOf(N_, dwrite, a), with_content = DotOf(N_, dwrite, c);
    x[WriteGate()] = (allocation * with_allocation + (1.f - allocation) * with_content) * gate * (1.f - gate);
    x[AllocationGate()] = gate * (with_allocation - with_content) * allocation * (1.f - allocation);
    Scale(N_, gate * (1.f - allocation), dwrite, dcontent);
    const float dstrength = ContentBackward(old, x + WriteKey(), x[WriteStrength()], after + WriteCosines(), c,
                                            dcontent, dkey, dmemory, norms);
    std::copy_n(dkey, W_, x + WriteKey());
    x[WriteStrength()] = dstrength * SoftplusSlope(x[WriteStrength()] - 1.f);
    Scale(N_, gate * allocation, dwrite, one);
    AllocateBackward(x, before, after, one, dusage, dwrite, dreads);
  }

 private:
  // A record: memory [W, N]; inverse norms, usage, order of the slots by usage, allocation, write weights, their
  // content part and its cosines, precedence, [N] each; for each read head the weights; then their content part, its
  // cosines, the forward and backward weights, [N] each; links [N, N].
  std::int64_t Norms() const { return W_ * N_; }
  std::int64_t Usage() const { return (W_ + 1) * N_; }
  std::int64_t Order() const { return (W_ + 2) * N_; }
  std::int64_t Allocation() const { return (W_ + 3) * N_; }
  std::int64_t WriteWeight() const { return (W_ + 4) * N_; }
  std::int64_t WriteContent() const { return (W_ + 5) * N_; }
  std::int64_t WriteCosines() const { return (W_ + 6) * N_; }
  std::int64_t Precedence() const { return (W_ + 7) * N_; }
  std::int64_t ReadWeight(std::int64_t r) const { return (W_ + 8 + r) * N_; }
  std::int64_t ReadContent(std::int64_t r) const { return (W_ + 8 + R_ + 4 * r) * N_; }
  std::int64_t ReadCosines(std::int64_t r) const { return ReadContent(r) + N_; }
  std::int64_t ForwardWeights(std::int64_t r) const { return ReadContent(r) + 2 * N_; }
  std::int64_t BackwardWeights(std::int64_t r) const { return ReadContent(r) + 3 * N_; }
  std::int64_t Links() const { return (W_ + 8 + 5 * R_) * N_; }

  // The interface, in the order of the paper.
  std::int64_t ReadKey(std::int64_t r) const { return r * W_; }
  std::int64_t ReadStrength(std::int64_t r) const { return R_ * W_ + r; }
  std::int64_t WriteKey() const { return R_ * W_ + R_; }
  std::int64_t WriteStrength() const { return WriteKey() + W_; }
  std::int64_t EraseVector() const { return WriteStrength() + 1; }
  std::int64_t WriteVector() const { return EraseVector() + W_; }
  std::int64_t FreeGate(std::int64_t r) const { return WriteVector() + W_ + r; }
  std::int64_t AllocationGate() const { return FreeGate(R_); }
  std::int64_t WriteGate() const { return AllocationGate() + 1; }
  std::int64_t Modes(std::int64_t r) const { return WriteGate() + 1 + 3 * r; }

  std::int64_t Area() const { return Scratch::Size(std::max(N_, W_)); }

  void Activate(float* x) const {
    for (std::int64_t r = 0; r < R_; ++r) {
      x[ReadStrength(r)] = 1.f + SoftplusOf(x[ReadStrength(r)]);
      x[FreeGate(r)] = SigmoidOf(x[FreeGate(r)]);
      SmallSoftmax(3, x + Modes(r));
    }
    x[WriteStrength()] = 1.f + SoftplusOf(x[WriteStrength()]);
    SigmoidRow(W_, x + EraseVector());
    x[AllocationGate()] = SigmoidOf(x[AllocationGate()]);
    x[WriteGate()] = SigmoidOf(x[WriteGate()]);
  }

  /// Usage u = (u + w - u w) ∏_r (1 - f_r w_r), all w from the step before. Allocation, with the slots φ in the order
  /// of their usage: a[φ_j] = (1 - u[φ_j]) ∏_{i<j} u[φ_i].
  void Allocate(const float* x, const float* before, float* after) const {
    const FloatVector unit = hn::Set(Floats(), 1.f);
    float* const usage = after + Usage();
    ForVectors(N_, [&](const auto& at) ATTEND_BODY {
      const FloatVector u = at.Load(before + Usage()), w = at.Load(before + WriteWeight());
      FloatVector y = hn::Add(u, hn::NegMulAdd(u, w, w));
      for (std::int64_t r = 0; r < R_; ++r)
        y = hn::Mul(y, hn::NegMulAdd(hn::Set(Floats(), x[FreeGate(r)]), at.Load(before + ReadWeight(r)), unit));
      at.Store(y, usage);
    });
    float *const order = after + Order(), *const allocation = after + Allocation();
    std::iota(order, order + N_, 0.f);  // exact: N is far below 2^24
    std::stable_sort(order, order + N_, [usage](float a, float b) { return usage[Index(a)] < usage[Index(b)]; });
    float product = 1;
    for (std::int64_t j = 0; j < N_; ++j) {
      const std::int64_t i = Index(order[j]);
      allocation[i] = (1.f - usage[i]) * product;
      product *= usage[i];
    }
  }
  static std::int64_t Index(float order) { return static_cast<std::int64_t>(order); }

  /// dusage: the gradient of the usage after the step in, before it out.
  /// dwrite is written, dreads is added to: the gradients of the weights before the step.
  void AllocateBackward(float* x, const float* before, const float* after, const float* dallocation, float* dusage,
                        float* dwrite, float* dreads) const {
    const float *const usage = after + Usage(), *const order = after + Order();
    // The products of the usages of the slots before each one; they replace the write weights' gradient for a moment.
    float* const products = dwrite;
    float product = 1;
    for (std::int64_t j = 0; j < N_; ++j) products[j] = product, product *= usage[Index(order[j])];
    float dproduct = 0;
    for (std::int64_t j = N_ - 1; j >= 0; --j) {
      const std::int64_t i = Index(order[j]);
      dusage[i] += products[j] * (dproduct - dallocation[i]);
      dproduct = (1.f - usage[i]) * dallocation[i] + dproduct * usage[i];
    }
    // The usage.
    const float *const u = before + Usage(), *const w = before + WriteWeight();
    float dfree[kMostHeads] = {};
    for (std::int64_t i = 0; i < N_; ++i) {
      const float sum = u[i] + w[i] - u[i] * w[i], d = dusage[i];
      float kept = 1;
      for (std::int64_t r = 0; r < R_; ++r) kept *= 1.f - x[FreeGate(r)] * before[ReadWeight(r) + i];
      for (std::int64_t r = 0; r < R_; ++r) {
        float others = d * sum;
        for (std::int64_t q = 0; q < R_; ++q)
          if (q != r) others *= 1.f - x[FreeGate(q)] * before[ReadWeight(q) + i];
        dfree[r] -= others * before[ReadWeight(r) + i];
        dreads[r * N_ + i] -= others * x[FreeGate(r)];
      }
      dusage[i] = d * kept * (1.f - w[i]);
      dwrite[i] = d * kept * (1.f - u[i]);
    }
    for (std::int64_t r = 0; r < R_; ++r) x[FreeGate(r)] = dfree[r] * x[FreeGate(r)] * (1.f - x[FreeGate(r)]);
  }

  /// L[i, j] = (1 - w_i - w_j) L[i, j] + w_i p_j, and 0 on the diagonal.
  void Link(const float* before, float* after) const {
    const float *const w = after + WriteWeight(), *const p = before + Precedence();
    for (std::int64_t i = 0; i < N_; ++i) {
      const FloatVector left = hn::Set(Floats(), 1.f - w[i]), wi = hn::Set(Floats(), w[i]);
      const float* const from = before + Links() + i * N_;
      float* const to = after + Links() + i * N_;
      ForVectors(N_, [&](const auto& at) ATTEND_BODY {
        at.Store(hn::MulAdd(hn::Sub(left, at.Load(w)), at.Load(from), hn::Mul(wi, at.Load(p))), to);
      });
      to[i] = 0;
    }
  }
  /// dlinks: the gradient of the links after the step in, before it out. Adds to the others.
  void LinkBackward(const float* w, const float* p, const float* links, float* dwrite, float* dprecedence,
                    float* dlinks) const {
    for (std::int64_t i = 0; i < N_; ++i) {
      const float* const from = links + i * N_;
      float* const d = dlinks + i * N_;
      d[i] = 0;
      const FloatVector left = hn::Set(Floats(), 1.f - w[i]), wi = hn::Set(Floats(), w[i]);
      Sums sums;
      ForVectorsByFour(N_, [&](auto at, int part) ATTEND_BODY {
        const FloatVector g = at.Load(d), L = at.Load(from);
        sums.part[part] = hn::MulAdd(g, hn::Sub(at.Load(p), L), sums.part[part]);
        at.Store(hn::NegMulAdd(g, L, at.Load(dwrite)), dwrite);
        at.Store(hn::MulAdd(g, wi, at.Load(dprecedence)), dprecedence);
        at.Store(hn::Mul(g, hn::Sub(left, at.Load(w))), d);
      });
      dwrite[i] += sums.Total();
    }
  }

  std::int64_t N_, W_, R_;
};

}  // namespace attend::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
#endif
