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
          .shifts = shifts};
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
  config.set("task", task);
}

double TuringMachineOptions::least_parameters() const {
  return static_cast<double>(hidden) * static_cast<double>(layers) * static_cast<double>(hidden + inputs);
}

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
  init::uniform_fan_in(machine.weight_ih, o.inputs + shape.recurrent(), generator);
  init::uniform_fan_in(machine.weight_hh, o.inputs + shape.recurrent(), generator);
  init::xavier_uniform(machine.interface_weight, 1.f, generator);
  init::normal(machine.interface_bias, 0.01f, generator);
  if (!init::skipped()) {
    machine.bias.fill(0.f);
    // The forget gates start open (Jozefowicz et al. 2015), so that gradients reach the first steps.
    if (o.controller == kernels::Controller::lstm) std::fill_n(machine.bias.data() + o.hidden, o.hidden, 1.f);
  }
  if (!init::skipped() && o.memory == MachineMemory::ntm) {
    // The heads start with location-based addressing, their gates for content almost closed. A network that learns to
    // move its heads first finds algorithms that do not depend on the length of a sequence.
    for (std::int64_t h = 0; h < o.sizes().heads(); ++h)
      machine.interface_bias.data()[h * (o.width + 3 + o.shifts) + o.width + 1] = o.gate_bias;
  }
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
