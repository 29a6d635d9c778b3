#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "attend/kernels/recurrent.cpp"
#include "attend/kernels/foreach_target.h"  // IWYU pragma: keep
#include <hwy/cache_control.h>
#include <hwy/highway.h>

#include <algorithm>
#include <array>
#include <numeric>

#include "attend/core/threads.h"
#include "attend/kernels/gemm-inl.h"
#include "attend/kernels/loop-inl.h"
#include "attend/kernels/math-inl.h"
#include "attend/kernels/recurrent.h"
#include "attend/kernels/scratch.h"

HWY_BEFORE_NAMESPACE();
namespace attend::kernels::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;
namespace {

using V = FloatVector;

constexpr std::int64_t kBlock = 64;  // sequences that a thread processes together

/// One sequence at one step. Pointers refer to rows of H units, or of G*H for gates. "forward" and "backward" mean that
/// a member is only used in that pass.
struct Row {
  const float* sums;  // forward: W_hh h for the kGemmWidth units from `group` on; gates are kGemmWidth apart
  std::int64_t group;
  const float* add;     // forward: b_hh
  const float* before;  // h before this step
  float* after;         // forward: h after it
  float* y;
  float* gates;
  float* extra;
  float* c;               // forward: the cell state of an LSTM, before and then after this step
  const float* c_before;  // backward: the cell state before this step
  const float* dy;
  float* dh;       // backward: gradient of h after this step, and then before it, without the part through W_hh
  float* dc;       // backward: gradient of the cell state, in the same way
  float* dhidden;  // backward: gradient of W_hh h + b_hh

  /// W_h h + b_h of a gate, in the forward pass.
  template <class Place>
  HWY_INLINE V Hidden(const Place& at, std::int64_t H, int gate) const {
    return hn::Add(hn::LoadU(Floats(), sums + gate * kGemmWidth + at.index - group), at.Load(add + gate * H));
  }
};

// ---- The cells: the computation between the matrix products, for one vector of units of one row ----

/// r = σ(x_r + h_r), z = σ(x_z + h_z), n = tanh(x_n + r h_n), h' = n + z (h - n), where h_g = W_hg h + b_hg.
struct Gru {
  static constexpr int kGates = 3;

  template <class Place>
  static HWY_INLINE void Forward(const Row& row, std::int64_t H, const Place& at, bool keep) {
    const Floats d;
    const V r = Sigmoid(d, hn::Add(at.Load(row.gates), row.Hidden(at, H, 0)));
    const V z = Sigmoid(d, hn::Add(at.Load(row.gates + H), row.Hidden(at, H, 1)));
    const V hidden_n = row.Hidden(at, H, 2);
    const V n = Tanh(d, hn::MulAdd(r, hidden_n, at.Load(row.gates + 2 * H)));
    const V h = hn::MulAdd(z, hn::Sub(at.Load(row.before), n), n);
    at.Store(h, row.after);
    at.Store(h, row.y);
    if (!keep) return;
    at.Store(r, row.gates);
    at.Store(z, row.gates + H);
    at.Store(n, row.gates + 2 * H);
    at.Store(hidden_n, row.extra);
  }

  template <class Place>
  static HWY_INLINE void Backward(const Row& row, std::int64_t H, const Place& at) {
    const Floats d;
    const V one = hn::Set(d, 1.f);
    const V r = at.Load(row.gates), z = at.Load(row.gates + H), n = at.Load(row.gates + 2 * H);
    const V hidden_n = at.Load(row.extra);
    V dh = at.Load(row.dh);
    if (row.dy) dh = hn::Add(dh, at.Load(row.dy));
    const V dn = hn::Mul(hn::Mul(dh, hn::Sub(one, z)), TanhDerivative(d, n));
    const V dz = hn::Mul(hn::Mul(dh, hn::Sub(at.Load(row.before), n)), SigmoidDerivative(d, z));
    const V dr = hn::Mul(hn::Mul(dn, hidden_n), SigmoidDerivative(d, r));
    const V dhidden_n = hn::Mul(dn, r);
    at.Store(dr, row.gates), at.Store(dr, row.dhidden);
    at.Store(dz, row.gates + H), at.Store(dz, row.dhidden + H);
    at.Store(dn, row.gates + 2 * H), at.Store(dhidden_n, row.dhidden + 2 * H);
    at.Store(hn::Mul(dh, z), row.dh);
  }
};

/// i, f, o = σ(x + h), g = tanh(x_g + h_g), c' = f c + i g, h' = o tanh(c').
struct Lstm {
  static constexpr int kGates = 4;

  template <class Place>
  static HWY_INLINE void Forward(const Row& row, std::int64_t H, const Place& at, bool keep) {
    const Floats d;
    const V i = Sigmoid(d, hn::Add(at.Load(row.gates), row.Hidden(at, H, 0)));
    const V f = Sigmoid(d, hn::Add(at.Load(row.gates + H), row.Hidden(at, H, 1)));
    const V g = Tanh(d, hn::Add(at.Load(row.gates + 2 * H), row.Hidden(at, H, 2)));
    const V o = Sigmoid(d, hn::Add(at.Load(row.gates + 3 * H), row.Hidden(at, H, 3)));
    const V c = hn::MulAdd(f, at.Load(row.c), hn::Mul(i, g));
    const V h = hn::Mul(o, Tanh(d, c));
    at.Store(c, row.c);
    at.Store(h, row.after);
    at.Store(h, row.y);
    if (!keep) return;
    at.Store(i, row.gates);
    at.Store(f, row.gates + H);
    at.Store(g, row.gates + 2 * H);
    at.Store(o, row.gates + 3 * H);
    at.Store(c, row.extra);
  }

  template <class Place>
  static HWY_INLINE void Backward(const Row& row, std::int64_t H, const Place& at) {
    const Floats d;
    const V i = at.Load(row.gates), f = at.Load(row.gates + H), g = at.Load(row.gates + 2 * H);
    const V o = at.Load(row.gates + 3 * H), tanh_c = Tanh(d, at.Load(row.extra));
    V dh = at.Load(row.dh);
    if (row.dy) dh = hn::Add(dh, at.Load(row.dy));
    const V dc = hn::MulAdd(hn::Mul(dh, o), TanhDerivative(d, tanh_c), at.Load(row.dc));
    const V di = hn::Mul(hn::Mul(dc, g), SigmoidDerivative(d, i));
    const V df = hn::Mul(hn::Mul(dc, at.Load(row.c_before)), SigmoidDerivative(d, f));
    const V dg = hn::Mul(hn::Mul(dc, i), TanhDerivative(d, g));
    const V dout = hn::Mul(hn::Mul(dh, tanh_c), SigmoidDerivative(d, o));
    at.Store(di, row.gates), at.Store(di, row.dhidden);
    at.Store(df, row.gates + H), at.Store(df, row.dhidden + H);
    at.Store(dg, row.gates + 2 * H), at.Store(dg, row.dhidden + 2 * H);
    at.Store(dout, row.gates + 3 * H), at.Store(dout, row.dhidden + 3 * H);
    at.Store(hn::Mul(dc, f), row.dc);
    at.Store(hn::Zero(d), row.dh);
  }
};

// ---- The loop over steps ----

/// Calls body(place) for the units [begin, end).
template <class Body>
HWY_INLINE void ForUnits(std::int64_t begin, std::int64_t end, const Body& body) {
  const auto lanes = static_cast<std::int64_t>(hn::Lanes(Floats()));
  std::int64_t u = begin;
  for (; u + lanes <= end; u += lanes) body(Whole{u});
  if (u < end) body(Rest{u, static_cast<std::size_t>(end - u)});
}

/// Prefetches the memory that the forward step reads and writes for the units [begin, end). The hardware prefetcher
/// does not recognise this access pattern.
HWY_INLINE void PrefetchUnits(const Row& row, std::int64_t H, std::int64_t gates, std::int64_t begin,
                              std::int64_t end) {
  for (std::int64_t u = begin; u < end; u += 16) {
    for (std::int64_t gate = 0; gate < gates; ++gate) hwy::Prefetch(row.gates + gate * H + u);
    hwy::Prefetch(row.y + u);
    if (row.extra) hwy::Prefetch(row.extra + u);
  }
}

void CopyOrZero(const float* from, std::int64_t count, float* to) {
  if (from)
    std::copy_n(from, count, to);
  else
    std::fill_n(to, count, 0.f);
}

template <typename T>
T* At(T* base, std::int64_t row, std::int64_t width) {
  return base ? base + row * width : nullptr;
}

/// The sequences of one block, longest first, so that the sequences still running at a step are the first ones.
class Members {
 public:
  Members(const Sequences& seq, std::int64_t first, std::int64_t last) : seq_(seq), count_(last - first) {
    std::iota(order_.begin(), order_.begin() + count_, first);
    if (seq.lengths)
      std::stable_sort(order_.begin(), order_.begin() + count_,
                       [&](std::int64_t a, std::int64_t b) { return seq.length(a) > seq.length(b); });
  }
  std::int64_t count() const { return count_; }
  std::int64_t operator[](std::int64_t i) const { return order_[static_cast<std::size_t>(i)]; }
  std::int64_t length(std::int64_t i) const { return seq_.length((*this)[i]); }
  std::int64_t longest() const { return length(0); }
  std::int64_t running(std::int64_t step) const {
    std::int64_t i = count_;
    while (i > 0 && length(i - 1) <= step) --i;
    return i;
  }
  /// The index in [B, T] of step `step` of member i, counted in the direction of processing.
  std::int64_t place(std::int64_t i, std::int64_t step) const {
    return (*this)[i] * seq_.steps + (seq_.reverse ? length(i) - 1 - step : step);
  }
  /// Sets the padding of each sequence in [B, T, width] to zero.
  void zero_rest(float* base, std::int64_t width) const {
    for (std::int64_t i = 0; base && i < count_; ++i)
      std::fill_n(base + ((*this)[i] * seq_.steps + length(i)) * width, (seq_.steps - length(i)) * width, 0.f);
  }

 private:
  const Sequences& seq_;
  std::int64_t count_;
  std::array<std::int64_t, kBlock> order_;
};

/// Calls body(members) for blocks of sequences. Sequences are independent, so results do not depend on the blocks.
template <typename Body>
void ForBlocks(const Sequences& seq, const Body& body) {
  constexpr std::int64_t kEnough = 1 << 18;  // multiplications for which a second thread pays
  const std::int64_t work = seq.batch * seq.steps * seq.hidden * seq.hidden;
  const std::int64_t threads = work < kEnough ? 1 : attend::threads(), blocks = (seq.batch + kBlock - 1) / kBlock;
  const std::int64_t balanced = std::max<std::int64_t>((blocks + threads - 1) / threads * threads, 1);
  const std::int64_t rows = std::max<std::int64_t>((seq.batch + balanced - 1) / balanced, 1);
  parallel_tasks((seq.batch + rows - 1) / rows,
                 [&](std::int64_t i) { body(Members(seq, i * rows, std::min(seq.batch, (i + 1) * rows))); });
}

/// The minimum number of panels, of `depth` rows each, for each thread that packs a weight.
std::int64_t PanelGrain(std::int64_t depth) { return std::max<std::int64_t>(1, 16384 / (depth * kGemmWidth + 1)); }

template <typename Cell>
void Forward(const Sequences& seq, const RecurrentForward& run) {
  constexpr std::int64_t G = Cell::kGates, kStride = G * kGemmWidth;
  const std::int64_t H = seq.hidden, groups = (H + kGemmWidth - 1) / kGemmWidth;

  // The packed weight has a panel of each gate for each group of units, so that all gates of a group are computed
  // together.
  const Scratch packed(run.weight ? groups * kStride * H : 0);
  if (run.weight)
    parallel_for(groups * G, PanelGrain(H), [&](std::int64_t begin, std::int64_t end) {
      for (std::int64_t i = begin; i < end; ++i) {
        const std::int64_t u = i / G * kGemmWidth, gate = i % G;
        PackTransposed(std::min(kGemmWidth, H - u), H, run.weight + (gate * H + u) * H, H,
                       packed.data + i * kGemmWidth * H);
      }
    });

  ForBlocks(seq, [&](const Members& members) {
    const Scratch states(2 * members.count() * H);
    float *before = states.data, *after = before + members.count() * H;
    for (std::int64_t i = 0; i < members.count(); ++i) CopyOrZero(At(run.h0, members[i], H), H, before + i * H);

    HWY_ALIGN float sums[kBlock * kStride] = {};
    std::array<Row, kBlock> rows;
    for (std::int64_t step = 0; step < members.longest(); ++step, std::swap(before, after)) {
      const std::int64_t running = members.running(step);
      for (std::int64_t i = 0; i < running; ++i) {
        const std::int64_t b = members[i], place = members.place(i, step);
        Row& row = rows[static_cast<std::size_t>(i)] = {};
        row.sums = sums + i * kStride;
        row.add = run.add + b * run.add_stride;
        row.before = before + i * H;
        row.after = after + i * H;
        row.y = run.y + place * H;
        row.gates = run.gates + place * G * H;
        row.extra = At(run.extra, place, H);
        row.c = At(run.c, b, H);
      }
      const bool product = run.weight && (step > 0 || run.h0);
      for (std::int64_t u = 0; u < H; u += kGemmWidth) {
        if (product) GemmPacked(running, kStride, H, before, H, packed.data + u * G * H, sums, kStride, false);
        const std::int64_t end = std::min(H, u + kGemmWidth);
        for (std::int64_t i = 0; i < running; ++i) {
          Row& row = rows[static_cast<std::size_t>(i)];
          row.group = u;
          if (end < H) PrefetchUnits(row, H, G, end, std::min(H, end + kGemmWidth));
          ForUnits(u, end, [&](const auto& at) ATTEND_BODY { Cell::Forward(row, H, at, run.keep); });
        }
      }
    }
    members.zero_rest(run.y, H);
    for (std::int64_t i = 0; i < members.count(); ++i) {
      const std::int64_t b = members[i], length = members.length(i);
      CopyOrZero(length > 0 ? run.y + members.place(i, length - 1) * H : At(run.h0, b, H), H, run.h + b * H);
    }
  });
}

template <typename Cell>
void Backward(const Sequences& seq, const RecurrentBackward& run) {
  constexpr std::int64_t G = Cell::kGates;
  const std::int64_t H = seq.hidden, groups = (H + kGemmWidth - 1) / kGemmWidth;

  const Scratch packed(run.weight ? PackedSize(G * H, H) : 0);
  if (run.weight)
    parallel_for(groups, PanelGrain(G * H), [&](std::int64_t begin, std::int64_t end) {
      const std::int64_t u = begin * kGemmWidth;
      Pack(G * H, std::min(H, end * kGemmWidth) - u, run.weight + u, H, packed.data + u * G * H);
    });
  const Scratch zeros(H);
  std::fill_n(zeros.data, H, 0.f);

  ForBlocks(seq, [&](const Members& members) {
    const std::int64_t count = members.count();
    const Scratch dhs(count * H), dhidden(count * G * H);
    for (std::int64_t i = 0; i < count; ++i) std::copy_n(run.dh + members[i] * H, H, dhs.data + i * H);
    for (std::int64_t step = members.longest() - 1; step >= 0; --step) {
      const std::int64_t running = members.running(step);
      for (std::int64_t i = 0; i < running; ++i) {
        const std::int64_t b = members[i], place = members.place(i, step);
        const auto state_before = [&](const float* states, const float* first) {
          return step > 0 ? At(states, members.place(i, step - 1), H) : first ? first + b * H : zeros.data;
        };
        Row row = {};
        row.before = state_before(run.y, run.h0);
        row.c_before = state_before(run.extra, run.c0);
        row.gates = run.gates + place * G * H;
        row.extra = run.extra + place * H;
        row.dy = At(run.dy, place, H);
        row.dh = dhs.data + i * H;
        row.dc = At(run.dc, b, H);
        row.dhidden = dhidden.data + i * G * H;
        ForVectors(H, [&](const auto& at) ATTEND_BODY { Cell::Backward(row, H, at); });
        if (run.before) std::copy_n(row.before, H, run.before + place * H);
        if (run.hidden) std::copy_n(row.dhidden, G * H, run.hidden + place * G * H);
      }
      if (run.weight && (step > 0 || run.first_state))
        GemmPacked(running, H, G * H, dhidden.data, G * H, packed.data, dhs.data, H, true);
    }
    for (std::int64_t i = 0; i < count; ++i) std::copy_n(dhs.data + i * H, H, run.dh + members[i] * H);
    members.zero_rest(run.gates, G * H);
    members.zero_rest(run.hidden, G * H);
    members.zero_rest(run.before, H);
  });
}

void ForwardGru(const Sequences& seq, const RecurrentForward& run) { Forward<Gru>(seq, run); }
void ForwardLstm(const Sequences& seq, const RecurrentForward& run) { Forward<Lstm>(seq, run); }
void BackwardGru(const Sequences& seq, const RecurrentBackward& run) { Backward<Gru>(seq, run); }
void BackwardLstm(const Sequences& seq, const RecurrentBackward& run) { Backward<Lstm>(seq, run); }

}  // namespace
}  // namespace attend::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace attend::kernels {

HWY_EXPORT(ForwardGru);
HWY_EXPORT(ForwardLstm);
HWY_EXPORT(BackwardGru);
HWY_EXPORT(BackwardLstm);

void recurrent_forward(Cell cell, const Sequences& sequences, const RecurrentForward& run) {
  if (cell == Cell::gru)
    HWY_DYNAMIC_DISPATCH(ForwardGru)(sequences, run);
  else
    HWY_DYNAMIC_DISPATCH(ForwardLstm)(sequences, run);
}

void recurrent_backward(Cell cell, const Sequences& sequences, const RecurrentBackward& run) {
  if (cell == Cell::gru)
    HWY_DYNAMIC_DISPATCH(BackwardGru)(sequences, run);
  else
    HWY_DYNAMIC_DISPATCH(BackwardLstm)(sequences, run);
}

}  // namespace attend::kernels
#endif
