#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "attend/kernels/memory_machine.cpp"
#include "attend/kernels/foreach_target.h"  // IWYU pragma: keep
#include <hwy/highway.h>

#include <algorithm>

#include "attend/core/threads.h"
#include "attend/kernels/dnc_memory-inl.h"
#include "attend/kernels/gemm-inl.h"
#include "attend/kernels/loop-inl.h"
#include "attend/kernels/math-inl.h"
#include "attend/kernels/memory_machine.h"
#include "attend/kernels/ntm_memory-inl.h"
#include "attend/kernels/scratch.h"

HWY_BEFORE_NAMESPACE();
namespace attend::kernels::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;
namespace {

// ---- the controllers: one row of one step ----

/// i, f, o = σ(·), g = tanh(·), c' = f c + i g, h = o tanh(c').   `before` may be null: zeros
void LstmForward(std::int64_t H, float* gates, const float* before, float* c, float* h) {
  ForVectors(H, [&](const auto& at) ATTEND_BODY {
    const Floats d;
    const FloatVector i = Sigmoid(d, at.Load(gates)), f = Sigmoid(d, at.Load(gates + H));
    const FloatVector g = Tanh(d, at.Load(gates + 2 * H)), o = Sigmoid(d, at.Load(gates + 3 * H));
    const FloatVector kept = before ? hn::Mul(f, at.Load(before)) : hn::Zero(d);
    const FloatVector cell = hn::MulAdd(i, g, kept);
    at.Store(i, gates), at.Store(f, gates + H), at.Store(g, gates + 2 * H), at.Store(o, gates + 3 * H);
    at.Store(cell, c), at.Store(hn::Mul(o, Tanh(d, cell)), h);
  });
}

/// gates: activated in, gradients out. dc: the gradient of the cell state after the step in, before it out.
void LstmBackward(std::int64_t H, float* gates, const float* before, const float* c, const float* dh, float* dc) {
  ForVectors(H, [&](const auto& at) ATTEND_BODY {
    const Floats d;
    const FloatVector i = at.Load(gates), f = at.Load(gates + H), g = at.Load(gates + 2 * H);
    const FloatVector o = at.Load(gates + 3 * H), tanh_c = Tanh(d, at.Load(c)), dy = at.Load(dh);
    const FloatVector dcell = hn::MulAdd(hn::Mul(dy, o), TanhDerivative(d, tanh_c), at.Load(dc));
    const FloatVector last = before ? at.Load(before) : hn::Zero(d);
    at.Store(hn::Mul(hn::Mul(dcell, g), SigmoidDerivative(d, i)), gates);
    at.Store(hn::Mul(hn::Mul(dcell, last), SigmoidDerivative(d, f)), gates + H);
    at.Store(hn::Mul(hn::Mul(dcell, i), TanhDerivative(d, g)), gates + 2 * H);
    at.Store(hn::Mul(hn::Mul(dy, tanh_c), SigmoidDerivative(d, o)), gates + 3 * H);
    at.Store(hn::Mul(dcell, f), dc);
  });
}

/// h = tanh(·).
void FeedForward(std::int64_t H, float* gates, float* h) {
  ForVectors(H, [&](const auto& at) ATTEND_BODY {
    const FloatVector y = Tanh(Floats(), at.Load(gates));
    at.Store(y, gates), at.Store(y, h);
  });
}

// ---- the loop over steps ----

/// Calls body(first, last) for blocks of sequences, one block for each thread. Sequences are independent, so the
/// results do not depend on the blocks.
template <typename Body>
void ForBlocks(const MachineShape& shape, const Body& body) {
  constexpr std::int64_t kEnough = 1 << 16;  // multiplications for which a second thread pays
  const std::int64_t work =
      shape.batch * shape.steps * (shape.gates() * shape.recurrent() + shape.memory.slots * shape.memory.width);
  const std::int64_t blocks = work < kEnough ? 1 : std::min<std::int64_t>(attend::threads(), shape.batch);
  const std::int64_t rows = (shape.batch + blocks - 1) / blocks;
  parallel_tasks((shape.batch + rows - 1) / rows,
                 [&](std::int64_t i) { body(i * rows, std::min(shape.batch, (i + 1) * rows)); });
}

/// The places of the rows of one step of a block, which are T rows apart.
struct Places {
  const MachineShape& shape;

  std::int64_t row(std::int64_t b, std::int64_t t) const { return b * shape.steps + t; }
  std::int64_t stride(std::int64_t width) const { return shape.steps * width; }
};

template <class Memory>
void Forward(const MachineShape& shape, const MachineForward& run) {
  const Memory memory(shape.memory);
  const bool lstm = shape.controller == Controller::lstm;
  const std::int64_t T = shape.steps, H = shape.hidden, GH = shape.gates(), C = shape.recurrent();
  const std::int64_t P = interface_size(shape.memory), F = record_size(shape.memory), width = shape.width();
  const std::int64_t first_column = width - C;  // of the states that enter the next step
  const Places at{shape};

  const Scratch weight(PackedSize(C, GH)), to_interface(PackedSize(H, P)), start(F);
  PackTransposed(GH, C, run.weight, C, weight.data);
  PackTransposed(P, H, run.interface_weight, H, to_interface.data);
  memory.Start(start.data);

  ForBlocks(shape, [&](std::int64_t first, std::int64_t last) {
    const std::int64_t count = last - first;
    const Scratch scratch(memory.ScratchSize());
    const auto record = [&](std::int64_t b, std::int64_t t) {
      if (t < 0) return start.data;
      return run.records + (run.keep ? at.row(b, t) : 2 * b + t % 2) * F;
    };
    for (std::int64_t t = 0; t < T; ++t) {
      const std::int64_t here = at.row(first, t);
      float* const states = run.states + here * width;
      if (t > 0)
        GemmPacked(count, GH, C, states - width + first_column, at.stride(width), weight.data, run.gates + here * GH,
                   at.stride(GH), true);
      for (std::int64_t b = first; b < last; ++b) {
        const std::int64_t row = at.row(b, t);
        float* const h = run.states + row * width;
        if (lstm)
          LstmForward(H, run.gates + row * GH, t > 0 ? run.cells + (row - 1) * H : nullptr, run.cells + row * H, h);
        else
          FeedForward(H, run.gates + row * GH, h);
        std::copy_n(run.interface_bias, P, run.interfaces + row * P);
      }
      GemmPacked(count, P, H, states, at.stride(width), to_interface.data, run.interfaces + here * P, at.stride(P),
                 true);
      for (std::int64_t b = first; b < last; ++b) {
        const std::int64_t row = at.row(b, t);
        float* const after = record(b, t);
        memory.Forward(run.interfaces + row * P, record(b, t - 1), after, run.states + row * width + H, scratch.data);
        const std::int64_t reads = shape.memory.read_heads * shape.memory.slots;
        const std::int64_t writes = shape.memory.write_heads * shape.memory.slots;
        if (run.read_weights) std::copy_n(memory.ReadWeights(after), reads, run.read_weights + row * reads);
        if (run.write_weights) std::copy_n(memory.WriteWeights(after), writes, run.write_weights + row * writes);
      }
    }
  });
}

template <class Memory>
void Backward(const MachineShape& shape, const MachineBackward& run) {
  const Memory memory(shape.memory);
  const bool lstm = shape.controller == Controller::lstm;
  const std::int64_t T = shape.steps, H = shape.hidden, GH = shape.gates(), C = shape.recurrent();
  const std::int64_t P = interface_size(shape.memory), F = record_size(shape.memory), width = shape.width();
  const Places at{shape};

  const Scratch weight(PackedSize(GH, C)), to_interface(PackedSize(P, H)), start(F);
  Pack(GH, C, run.weight, C, weight.data);
  Pack(P, H, run.interface_weight, H, to_interface.data);
  memory.Start(start.data);

  ForBlocks(shape, [&](std::int64_t first, std::int64_t last) {
    const std::int64_t count = last - first, size = memory.StateSize();
    // The gradients of what a step gives to the next: the memory, the cell states, and the columns of `states`.
    const Scratch scratch(memory.ScratchSize()), dmemory(count * size), dcells(count * H), dstates(count * width);
    std::fill_n(dmemory.data, count * size, 0.f);
    std::fill_n(dcells.data, count * H, 0.f);
    std::fill_n(dstates.data, count * width, 0.f);
    for (std::int64_t t = T - 1; t >= 0; --t) {
      const std::int64_t here = at.row(first, t);
      for (std::int64_t i = 0; i < count; ++i) {
        const std::int64_t row = at.row(first + i, t);
        float* const d = dstates.data + i * width;
        AddScaled(width, 1.f, run.dstates + row * width, d);
        memory.Backward(run.interfaces + row * P, t > 0 ? run.records + (row - 1) * F : start.data,
                        run.records + row * F, d + H, dmemory.data + i * size, scratch.data);
      }
      GemmPacked(count, H, P, run.interfaces + here * P, at.stride(P), to_interface.data, dstates.data, width, true);
      for (std::int64_t i = 0; i < count; ++i) {
        const std::int64_t row = at.row(first + i, t);
        float *const gates = run.gates + row * GH, *const d = dstates.data + i * width;
        if (lstm)
          LstmBackward(H, gates, t > 0 ? run.cells + (row - 1) * H : nullptr, run.cells + row * H, d,
                       dcells.data + i * H);
        else
          TanhRowBackward(H, d, gates);
      }
      if (t == 0) break;
      if (!lstm)
        for (std::int64_t i = 0; i < count; ++i) std::fill_n(dstates.data + i * width, H, 0.f);
      GemmPacked(count, C, GH, run.gates + here * GH, at.stride(GH), weight.data, dstates.data + width - C, width,
                 false);
    }
  });
}

void ForwardNtm(const MachineShape& shape, const MachineForward& run) { Forward<NtmMemory>(shape, run); }
void ForwardDnc(const MachineShape& shape, const MachineForward& run) { Forward<DncMemory>(shape, run); }
void BackwardNtm(const MachineShape& shape, const MachineBackward& run) { Backward<NtmMemory>(shape, run); }
void BackwardDnc(const MachineShape& shape, const MachineBackward& run) { Backward<DncMemory>(shape, run); }

}  // namespace
}  // namespace attend::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace attend::kernels {

std::int64_t interface_size(const MemorySizes& s) {
  if (s.kind == MemoryKind::dnc) return s.read_heads * s.width + 3 * s.width + 5 * s.read_heads + 3;
  return s.heads() * (s.width + 3 + s.shifts) + 2 * s.write_heads * s.written();
}

std::int64_t record_size(const MemorySizes& s) {
  if (s.kind == MemoryKind::dnc) return (s.width + 8 + 5 * s.read_heads + s.slots) * s.slots;
  return (s.width + 1 + 4 * s.heads()) * s.slots;
}

HWY_EXPORT(ForwardNtm);
HWY_EXPORT(ForwardDnc);
HWY_EXPORT(BackwardNtm);
HWY_EXPORT(BackwardDnc);

void memory_machine_forward(const MachineShape& shape, const MachineForward& run) {
  if (shape.memory.kind == MemoryKind::ntm)
    HWY_DYNAMIC_DISPATCH(ForwardNtm)(shape, run);
  else
    HWY_DYNAMIC_DISPATCH(ForwardDnc)(shape, run);
}

void memory_machine_backward(const MachineShape& shape, const MachineBackward& run) {
  if (shape.memory.kind == MemoryKind::ntm)
    HWY_DYNAMIC_DISPATCH(BackwardNtm)(shape, run);
  else
    HWY_DYNAMIC_DISPATCH(BackwardDnc)(shape, run);
}

}  // namespace attend::kernels
#endif
