// A controller with an external memory over whole sequences: the Neural Turing Machine (Graves et al. 2014) and the
// Differentiable Neural Computer (Graves et al. 2016). ops/memory_machine.h has the equations. The caller computes the
// projections of the inputs, and the gradients of weights and inputs, as matrix products over all steps.
//
// Sequences are independent, so each thread processes some of them through all steps. The controller is computed for
// all of its sequences at once, the memory for each sequence alone: it fits in the cache.
//
// Shapes: B sequences, T steps, H units, G gates (LSTM: 4, i, f, g, o; feed-forward: 1), P numbers that the controller
// gives to the heads in each step, N slots of W numbers, R read heads, V = R W numbers that are read.
#pragma once
#include <cstdint>

namespace attend::kernels {

enum class Controller : std::uint8_t { lstm, feed_forward };
enum class MemoryKind : std::uint8_t { ntm, dnc };

struct MemorySizes {
  MemoryKind kind = MemoryKind::ntm;
  std::int64_t slots = 128;
  std::int64_t width = 20;
  std::int64_t read_heads = 1;
  std::int64_t write_heads = 1;  ///< 1 for dnc
  std::int64_t shifts = 3;       ///< ntm: the number of possible shifts, odd: 3 means -1, 0 and 1
  std::int64_t address = 0;      ///< ntm: how many numbers of a slot are its address, which is never written

  std::int64_t heads() const { return read_heads + write_heads; }
  std::int64_t reads() const { return read_heads * width; }
  std::int64_t written() const { return width - address; }  ///< numbers of a slot that write heads change
};
constexpr std::int64_t kMostHeads = 16;  ///< for reading, and for writing
constexpr std::int64_t kMostShifts = 15;

/// P: the size of the interface.
std::int64_t interface_size(const MemorySizes& sizes);
/// The number of floats that describe the memory after one step of one sequence.
std::int64_t record_size(const MemorySizes& sizes);

struct MachineShape {
  Controller controller = Controller::lstm;
  MemorySizes memory = {};
  std::int64_t batch = 0, steps = 0, hidden = 0;

  std::int64_t gates() const { return (controller == Controller::lstm ? 4 : 1) * hidden; }
  std::int64_t width() const { return hidden + memory.reads(); }  ///< of a row of `states`
  /// The columns of the recurrent weight: the reads, and for an LSTM the state before them.
  std::int64_t recurrent() const { return (controller == Controller::lstm ? hidden : 0) + memory.reads(); }
};

struct MachineForward {
  const float* weight = nullptr;            ///< [G*H, H + V] for an LSTM, [G*H, V] for feed-forward
  const float* interface_weight = nullptr;  ///< [P, H]
  const float* interface_bias = nullptr;    ///< [P]
  float* gates = nullptr;                   ///< [B, T, G*H] in: W_ih x + b; out: the activated gates
  float* interfaces = nullptr;              ///< [B, T, P] out: activated
  float* cells = nullptr;                   ///< [B, T, H] out: the cell states of an LSTM
  float* states = nullptr;                  ///< [B, T, H + V] out: the controller's state and what was read
  float* records = nullptr;                 ///< [B, T, record_size()] out if `keep`, otherwise [B, 2, record_size()]
  bool keep = false;                        ///< keep all records for the backward pass
  float* read_weights = nullptr;            ///< [B, T, R, N] out, or null
  float* write_weights = nullptr;           ///< [B, T, write heads, N] out, or null
};
void memory_machine_forward(const MachineShape& shape, const MachineForward& run);

struct MachineBackward {
  const float* weight = nullptr;
  const float* interface_weight = nullptr;
  float* gates = nullptr;        ///< [B, T, G*H] in: from the forward pass; out: gradients of W_ih x + b
  float* interfaces = nullptr;   ///< [B, T, P] in: from the forward pass; out: gradients before the activations
  const float* cells = nullptr;  ///< the others: from the forward pass
  const float* states = nullptr;
  const float* records = nullptr;
  const float* dstates = nullptr;  ///< [B, T, H + V] the gradients of `states`
};
void memory_machine_backward(const MachineShape& shape, const MachineBackward& run);

}  // namespace attend::kernels
