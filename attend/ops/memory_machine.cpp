#include "attend/ops/memory_machine.h"

#include <algorithm>

#include "attend/kernels/activation.h"
#include "attend/kernels/matmul.h"
#include "attend/ops/check.h"
#include "attend/ops/tape.h"

namespace attend {
namespace {

constexpr const char* kMachine = "memory_machine";

void check_shape(const char* what, const Tensor& tensor, const Shape& expected) {
  check_float(kMachine, what, tensor);
  if (tensor.shape() != expected) fail(kMachine, what, " does not fit: got ", tensor.shape(), ", expected ", expected);
}

kernels::MachineShape check(const Tensor& x, const MachineWeights& weights, const MachineOptions& options) {
  check_memory(options.memory);
  check_float(kMachine, "x", x);
  check_float(kMachine, "interface_weight", weights.interface_weight);
  if (x.rank() != 3 || x.dim(1) == 0)
    fail(kMachine, "wrong shape of the input: got ", x.shape(), ", expected [B, T, I]");
  if (weights.interface_weight.rank() != 2)
    fail(kMachine, "interface_weight does not fit: got ", weights.interface_weight.shape(), ", expected [P, H]");
  const kernels::MachineShape shape{.controller = options.controller,
                                    .memory = options.memory,
                                    .batch = x.dim(0),
                                    .steps = x.dim(1),
                                    .hidden = weights.interface_weight.dim(1)};
  const std::int64_t P = kernels::interface_size(options.memory), GH = shape.gates();
  check_shape("interface_weight", weights.interface_weight, {P, shape.hidden});
  check_shape("interface_bias", weights.interface_bias, {P});
  check_shape("weight_ih", weights.weight_ih, {GH, x.dim(2)});
  check_shape("weight_hh", weights.weight_hh, {GH, shape.recurrent()});
  check_shape("bias", weights.bias, {GH});
  return shape;
}

/// The tensors that the backward pass needs. It overwrites `gates` and `interfaces` with gradients.
struct MachineKept {
  kernels::MachineShape shape;
  Tensor x, weight_ih, weight_hh, interface_weight, gates, interfaces, cells, states, records;
};

Tensor column_sums(const Tensor& rows) {
  const std::int64_t columns = rows.dim(-1);
  Tensor sums = Tensor::empty({columns});
  kernels::bias_activation_backward(rows.rows(), columns, rows.data(), nullptr, Activation::none,
                                    {.dbias = sums.data()});
  return sums;
}

/// Columns [first, first + columns) of the states, each of the step before; zeros before the first step.
Tensor states_before(const MachineKept& kept, std::int64_t first, std::int64_t columns) {
  const kernels::MachineShape& shape = kept.shape;
  const std::int64_t B = shape.batch, T = shape.steps, width = shape.width();
  Tensor all = Tensor::empty({B, T, columns});
  for (std::int64_t b = 0; b < B; ++b) {
    std::fill_n(all.data() + b * T * columns, columns, 0.f);
    for (std::int64_t t = 1; t < T; ++t)
      std::copy_n(kept.states.data() + (b * T + t - 1) * width + first, columns, all.data() + (b * T + t) * columns);
  }
  return all;
}

/// The controller's states h of each step.   -> [B, T, H]
Tensor controller_states(const MachineKept& kept) {
  const std::int64_t rows = kept.states.rows(), H = kept.shape.hidden, width = kept.shape.width();
  Tensor all = Tensor::empty({kept.shape.batch, kept.shape.steps, H});
  for (std::int64_t row = 0; row < rows; ++row) std::copy_n(kept.states.data() + row * width, H, all.data() + row * H);
  return all;
}

struct MachineInput {
  enum : std::size_t { x, weight_ih, weight_hh, bias, interface_weight, interface_bias };
};

void machine_backward(const MachineKept& kept, const Tensor& dstates, Grads& grads) {
  const kernels::MachineShape& shape = kept.shape;
  kernels::memory_machine_backward(shape, {.weight = kept.weight_hh.data(),
                                           .interface_weight = kept.interface_weight.data(),
                                           .gates = kept.gates.data(),
                                           .interfaces = kept.interfaces.data(),
                                           .cells = kept.cells.defined() ? kept.cells.data() : nullptr,
                                           .states = kept.states.data(),
                                           .records = kept.records.data(),
                                           .dstates = dstates.data()});
  // The kernel has overwritten both with gradients.
  const Tensor &dgates = kept.gates, &dinterfaces = kept.interfaces;
  if (grads.wants(MachineInput::x)) {
    const auto [dx, accumulate] = grads.target(MachineInput::x);
    kernels::matmul({.m = shape.batch * shape.steps, .n = kept.x.dim(2), .k = shape.gates(), .accumulate = accumulate},
                    dgates.data(), kept.weight_ih.data(), dx.data());
  }
  if (grads.wants(MachineInput::weight_ih)) grads.product(MachineInput::weight_ih, dgates, kept.x);
  if (grads.wants(MachineInput::weight_hh))
    grads.product(MachineInput::weight_hh, dgates,
                  states_before(kept, shape.width() - shape.recurrent(), shape.recurrent()));
  if (grads.wants(MachineInput::bias)) grads.add(MachineInput::bias, column_sums(dgates));
  if (grads.wants(MachineInput::interface_weight))
    grads.product(MachineInput::interface_weight, dinterfaces, controller_states(kept));
  if (grads.wants(MachineInput::interface_bias)) grads.add(MachineInput::interface_bias, column_sums(dinterfaces));
}

}  // namespace

void check_memory(const kernels::MemorySizes& s) {
  constexpr std::int64_t kMost = 1 << 16;
  const auto within = [](const char* what, std::int64_t value, std::int64_t most) {
    if (value < 1 || value > most)
      fail<InputError>(kMachine, "the number of ", what, " is out of range: got ", value, ", expected 1 to ", most);
  };
  within("slots", s.slots, kMost);
  within("numbers in a slot", s.width, kMost);
  within("read heads", s.read_heads, kernels::kMostHeads);
  within("write heads", s.write_heads, s.kind == kernels::MemoryKind::dnc ? 1 : kernels::kMostHeads);
  if (s.kind == kernels::MemoryKind::dnc) {
    if (s.address != 0) fail<InputError>(kMachine, "the slots of a DNC have no address: got ", s.address, " numbers");
    return;
  }
  if (s.address < 0 || s.address >= s.width)
    fail<InputError>(kMachine, "the numbers of an address must be fewer than those of a slot: got ", s.address, " of ",
                     s.width);
  within("shifts", s.shifts, kernels::kMostShifts);
  if (s.shifts % 2 == 0 || s.shifts > s.slots)
    fail<InputError>(kMachine, "the number of shifts must be odd and at most the number of slots: got ", s.shifts,
                     " and ", s.slots, " slots");
}

MachineResult memory_machine(const Tensor& x, const MachineWeights& weights, const MachineOptions& options) {
  const kernels::MachineShape shape = check(x, weights, options);
  const std::int64_t B = shape.batch, T = shape.steps, H = shape.hidden, N = options.memory.slots;
  const bool keep = needs_grad(
      {&x, &weights.weight_ih, &weights.weight_hh, &weights.bias, &weights.interface_weight, &weights.interface_bias});
  const MachineKept kept{.shape = shape,
                         .x = x.detach(),
                         .weight_ih = weights.weight_ih.detach(),
                         .weight_hh = weights.weight_hh.detach(),
                         .interface_weight = weights.interface_weight.detach(),
                         .gates = Tensor::empty({B, T, shape.gates()}),
                         .interfaces = Tensor::empty({B, T, kernels::interface_size(options.memory)}),
                         .cells = options.controller == kernels::Controller::lstm ? Tensor::empty({B, T, H}) : Tensor(),
                         .states = Tensor::empty({B, T, shape.width()}),
                         .records = Tensor::empty({B, keep ? T : 2, kernels::record_size(options.memory)})};
  MachineResult result{.states = kept.states};
  if (options.weights) {
    result.read_weights = Tensor::empty({B, T, options.memory.read_heads, N});
    result.write_weights = Tensor::empty({B, T, options.memory.write_heads, N});
  }
  kernels::matmul({.m = B * T, .n = shape.gates(), .k = x.dim(2), .transpose_b = true}, x.data(),
                  weights.weight_ih.data(), kept.gates.data(), weights.bias.data());
  kernels::memory_machine_forward(shape, {.weight = weights.weight_hh.data(),
                                          .interface_weight = weights.interface_weight.data(),
                                          .interface_bias = weights.interface_bias.data(),
                                          .gates = kept.gates.data(),
                                          .interfaces = kept.interfaces.data(),
                                          .cells = kept.cells.defined() ? kept.cells.data() : nullptr,
                                          .states = kept.states.data(),
                                          .records = kept.records.data(),
                                          .keep = keep,
                                          .read_weights = options.weights ? result.read_weights.data() : nullptr,
                                          .write_weights = options.weights ? result.write_weights.data() : nullptr});
  result.states =
      record(kMachine, result.states,
             {x, weights.weight_ih, weights.weight_hh, weights.bias, weights.interface_weight, weights.interface_bias},
             [kept](const Tensor& dy, Grads& grads) { machine_backward(kept, dy, grads); });
  return result;
}

}  // namespace attend
