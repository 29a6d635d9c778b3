// Networks that learn algorithms on sequences of vectors: the Neural Turing Machine (Graves et al. 2014), the
// Differentiable Neural Computer (Graves et al. 2016), and an LSTM without a memory to compare them with.
//
// A network reads a vector in each step, and gives a vector of logits in each step:
//   [h_t, r_t] = machine(x_1 … x_t)      the controller's state and what the heads read; see ops/memory_machine.h
//   y_t = W_y [h_t, r_t] + b_y
#pragma once
#include <string>
#include <utility>
#include <vector>

#include "attend/attention/probe.h"
#include "attend/formats/config.h"
#include "attend/models/model.h"
#include "attend/nn/linear.h"
#include "attend/nn/recurrent.h"
#include "attend/ops/memory_machine.h"

namespace attend {

/// The memory of a network.
enum class MachineMemory : std::uint8_t { none, ntm, dnc };
extern const std::vector<std::pair<std::string, MachineMemory>> kMachineMemoryNames;
extern const std::vector<std::pair<std::string, kernels::Controller>> kControllerNames;

struct TuringMachine;

/// The biases with which the heads of a new NTM start, before their activations (see ops/memory_machine.h).
struct HeadBiases {
  float read_gate = 0.f, write_gate = 0.f;  ///< of g; negative: a head starts with addressing by location
  float strength = 0.f;                     ///< of β; positive: addressing by content starts with few slots
  float write_shift = 0.f;                  ///< of the shift by one slot on; positive: write heads start by moving on
  float sharpness = 0.f;                    ///< of γ; positive: the weights of a head stay on one slot while it moves
  float erase = 0.f;                        ///< of e; negative: what is written is added to what is there
};

struct TuringMachineOptions {
  using Network = TuringMachine;

  std::int64_t inputs = 0;   ///< numbers in an input vector
  std::int64_t outputs = 0;  ///< numbers in an output vector
  MachineMemory memory = MachineMemory::ntm;
  kernels::Controller controller = kernels::Controller::lstm;  ///< without a memory: lstm
  std::int64_t hidden = 100;                                   ///< units of the controller
  int layers = 1;                                              ///< of a network without a memory
  std::int64_t slots = 128;
  std::int64_t width = 20;  ///< numbers in a slot
  std::int64_t read_heads = 1, write_heads = 1;
  std::int64_t shifts = 3;   ///< possible shifts of a head of the NTM, odd
  std::int64_t address = 0;  ///< numbers of a slot of the NTM that are its fixed address
  HeadBiases biases = {};    ///< of a new NTM
  /// Of the forget gates of a new LSTM controller. 1 lets gradients reach the first steps (Jozefowicz et al. 2015).
  /// With 0 or less the state soon forgets, and so it does not drift in sequences that are longer than those of
  /// training.
  float forget_bias = 1.f;
  Config task = {};  ///< the task that the network was trained for; see tasks/algorithm/algorithm.h

  /// The sizes for the op. Only for a network with a memory.
  kernels::MemorySizes sizes() const;

  static TuringMachineOptions read(const Config& config);
  void write(Config& config) const;  ///< "model_type" included
  double least_parameters() const;
};

struct TuringMachine : ModelOf<TuringMachine> {
  TuringMachineOptions options;
  MachineWeights machine;  // with a memory
  Recurrent lstm;          // without a memory
  Linear output;

  TuringMachine() = default;
  /// Throws InputError if the sizes do not fit.
  explicit TuringMachine(const TuringMachineOptions& options, Generator& generator = default_generator());

  /// x [B, T, inputs] -> logits [B, T, outputs].
  /// A probe records the weights of the heads as the layers "write" and "read", [B, heads, T, slots].
  Tensor operator()(const Tensor& x, Probe* probe = nullptr) const;

  Config config() const override;

  void visit(auto&& v) {
    v("controller.weight_ih", machine.weight_ih), v("controller.weight_hh", machine.weight_hh);
    v("controller.bias", machine.bias);
    v("interface.weight", machine.interface_weight), v("interface.bias", machine.interface_bias);
    v("lstm", lstm), v("output", output);
  }
};

}  // namespace attend
