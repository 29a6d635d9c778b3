#include "attend/models/turing_machine.h"

#include <algorithm>
#include <cmath>

#include "attend/core/error.h"
#include "attend/models/bounds.h"
#include "attend/nn/init.h"

namespace attend {

const std::vector<std::pair<std::string, MachineMemory>> kMachineMemoryNames = {
    {"none", MachineMemory::none}, {"ntm", MachineMemory::ntm}, {"dnc", MachineMemory::dnc}};
const std::vector<std::pair<std::string, kernels::Controller>> kControllerNames = {
    {"lstm", kernels::Controller::lstm}, {"feed-forward", kernels::Controller::feed_forward}};

kernels::MemorySizes TuringMachineOptions::sizes() const {
  return {.kind = memory == MachineMemory::dnc ? kernels::MemoryKind::dnc : kernels::MemoryKind::ntm,
          .slots = slots,
          .width = width,
          .read_heads = read_heads,
          .write_heads = write_heads,
          .shifts = shifts,
          .address = address};
}

TuringMachineOptions TuringMachineOptions::read(const Config& config) {
  TuringMachineOptions o;
  o.inputs = config.integer_in("inputs", 1, bounds::kWidth);
  o.outputs = config.integer_in("outputs", 1, bounds::kWidth);
  o.memory = config.choice("memory", kMachineMemoryNames);
  o.controller = config.choice("controller", kControllerNames);
  o.hidden = config.integer_in("hidden", 1, bounds::kWidth);
  o.layers = static_cast<int>(config.integer_in("layers", 1, bounds::kLayers));
  o.slots = config.integer_in("slots", 1, bounds::kWidth);
  o.width = config.integer_in("width", 1, bounds::kWidth);
  o.read_heads = config.integer_in("read_heads", 1, kernels::kMostHeads);
  o.write_heads = config.integer_in("write_heads", 1, kernels::kMostHeads);
  o.shifts = config.integer_in("shifts", 1, kernels::kMostShifts);
  if (config.has("address")) o.address = config.integer_in("address", 0, o.width - 1);
  if (config.has("task")) o.task = config.object("task");
  return o;
}

void TuringMachineOptions::write(Config& config) const {
  config.set("model_type", "attend-turing-machine");
  config.set("inputs", inputs);
  config.set("outputs", outputs);
  config.set("memory", name_of(memory, kMachineMemoryNames));
  config.set("controller", name_of(controller, kControllerNames));
  config.set("hidden", hidden);
  config.set("layers", layers);
  config.set("slots", slots);
  config.set("width", width);
  config.set("read_heads", read_heads);
  config.set("write_heads", write_heads);
  config.set("shifts", shifts);
  config.set("address", address);
  config.set("task", task);
}

double TuringMachineOptions::least_parameters() const {
  return static_cast<double>(hidden) * static_cast<double>(layers) * static_cast<double>(hidden + inputs);
}

namespace {

void init_controller(MachineWeights& machine, const TuringMachineOptions& o, std::int64_t recurrent,
                     Generator& generator) {
  if (o.controller == kernels::Controller::lstm) {
    init::uniform_fan_in(machine.weight_ih, o.inputs + recurrent, generator);
    init::uniform_fan_in(machine.weight_hh, o.inputs + recurrent, generator);
    if (init::skipped()) return;
    machine.bias.fill(0.f);
    std::fill_n(machine.bias.data() + o.hidden, o.hidden, o.forget_bias);
    return;
  }
  // Inputs of -1 and 1 give the sums a variance of 1. The biases are as large: without them each unit would be an odd
  // function of the input, and no sum of odd functions tells a vector of bits from a step without input.
  init::normal(machine.weight_ih, 1.f / std::sqrt(static_cast<float>(o.inputs)), generator);
  init::normal(machine.bias, 1.f, generator);
  // What is read goes to the output at first, but not to the controller: the heads must not depend on the bits.
  if (!init::skipped()) machine.weight_hh.fill(0.f);
}

/// Adds to the biases of the interface of an NTM: for each head, read heads first, a key, β, g, γ and shifts;
/// then for each write head erase and add.
void add_biases(const Tensor& interface, const TuringMachineOptions& o) {
  for (std::int64_t h = 0; h < o.sizes().heads(); ++h) {
    float* const scalars = interface.data() + h * (o.width + 3 + o.shifts) + o.width;
    scalars[0] += o.biases.strength;
    scalars[1] += h < o.read_heads ? o.biases.read_gate : o.biases.write_gate;
    scalars[2] += o.biases.sharpness;
    if (h >= o.read_heads && o.shifts > 1) scalars[3 + o.shifts / 2 + 1] += o.biases.write_shift;
  }
  const std::int64_t written = o.sizes().written();
  for (std::int64_t h = 0; h < o.write_heads; ++h) {
    float* const erase = interface.data() + o.sizes().heads() * (o.width + 3 + o.shifts) + 2 * h * written;
    for (std::int64_t m = 0; m < written; ++m) erase[m] += o.biases.erase;
  }
}

}  // namespace

TuringMachine::TuringMachine(const TuringMachineOptions& o, Generator& generator) : options(o) {
  if (o.memory == MachineMemory::none) {
    if (o.controller != kernels::Controller::lstm)
      fail<InputError>("turing", "a network without a memory needs an LSTM: got the controller \"feed-forward\"");
    lstm = Recurrent(kernels::Cell::lstm, {.input = o.inputs, .hidden = o.hidden, .layers = o.layers}, generator);
    output = Linear(o.hidden, o.outputs, true, generator);
    return;
  }
  if (o.layers != 1) fail<InputError>("turing", "a controller of a memory has one layer: got ", o.layers);
  check_memory(o.sizes());
  const kernels::MachineShape shape{.controller = o.controller, .memory = o.sizes(), .hidden = o.hidden};
  const std::int64_t GH = shape.gates(), P = kernels::interface_size(o.sizes());
  machine = {.weight_ih = Tensor::empty({GH, o.inputs}),
             .weight_hh = Tensor::empty({GH, shape.recurrent()}),
             .bias = Tensor::empty({GH}),
             .interface_weight = Tensor::empty({P, o.hidden}),
             .interface_bias = Tensor::empty({P})};
  init_controller(machine, o, shape.recurrent(), generator);
  init::xavier_uniform(machine.interface_weight, 1.f, generator);
  init::normal(machine.interface_bias, 0.01f, generator);
  if (!init::skipped() && o.memory == MachineMemory::ntm) add_biases(machine.interface_bias, o);
  output = Linear(shape.width(), o.outputs, true, generator);
}

namespace {

/// [B, T, heads, N] -> [B, heads, T, N]
Tensor by_head(const Tensor& weights) {
  const std::int64_t B = weights.dim(0), T = weights.dim(1), H = weights.dim(2), N = weights.dim(3);
  Tensor moved = Tensor::empty({B, H, T, N});
  for (std::int64_t b = 0; b < B; ++b)
    for (std::int64_t t = 0; t < T; ++t)
      for (std::int64_t h = 0; h < H; ++h)
        std::copy_n(weights.data() + ((b * T + t) * H + h) * N, N, moved.data() + ((b * H + h) * T + t) * N);
  return moved;
}

}  // namespace

Tensor TuringMachine::operator()(const Tensor& x, Probe* probe) const {
  if (options.memory == MachineMemory::none) return output(lstm(x).y);
  const MachineResult run = memory_machine(
      x, machine, {.controller = options.controller, .memory = options.sizes(), .weights = probe != nullptr});
  if (probe) {
    probe->enter("write");
    probe->record(by_head(run.write_weights));
    probe->enter("read");
    probe->record(by_head(run.read_weights));
  }
  return output(run.states);
}

Config TuringMachine::config() const {
  Config config;
  options.write(config);
  return config;
}

}  // namespace attend
