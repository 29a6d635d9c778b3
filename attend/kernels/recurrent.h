// GRU and LSTM over whole sequences: the part that goes step by step. The projections of the inputs, and the gradients
// of weights and inputs, are matrix products over all steps at once, and the caller's (attend/ops/recurrence.cpp).
//
// Sequences are independent, so each thread takes some of them through all steps, without a barrier: it multiplies
// with the recurrent weight, packed once a call, and applies the gates while the sums are in cache.
//
// B sequences, T steps, H units, G gates (3 for a GRU: r, z, n; 4 for an LSTM: i, f, g, o).
#pragma once
#include <cstdint>

namespace attend::kernels {

enum class Cell { gru, lstm };
constexpr std::int64_t gates_of(Cell cell) { return cell == Cell::gru ? 3 : 4; }

/// Which steps there are, and in which order. Sequence b has lengths[b] of the T steps (all when null); reversed, it
/// starts at its own last one.
struct Sequences {
  std::int64_t batch, steps, hidden;
  const std::int32_t* lengths = nullptr;
  bool reverse = false;

  std::int64_t length(std::int64_t b) const { return lengths ? lengths[b] : steps; }
};

struct RecurrentForward {
  const float* weight = nullptr;  ///< [G*H, H]; null: `add` holds the products already (one step needs no loop)
  const float* add = nullptr;     ///< the hidden side's bias [G*H], or with add_stride = G*H one row a sequence
  std::int64_t add_stride = 0;
  float* gates = nullptr;  ///< [B, T, G*H] in: the inputs' projections with their bias; out, if `keep`: activated gates
  float* extra = nullptr;  ///< [B, T, H] out, if `keep`: a GRU's W_hn h + b_hn, an LSTM's cells
  bool keep = false;       ///< whether a backward pass will follow
  const float* h0 = nullptr;  ///< [B, H], or null for zeros
  float* y = nullptr;         ///< [B, T, H] out; zero beyond a sequence's length
  float* h = nullptr;         ///< [B, H] out: the state after each sequence's last step
  float* c = nullptr;         ///< [B, H] in: an LSTM's first cells; out: its last
};
void recurrent_forward(Cell cell, const Sequences& sequences, const RecurrentForward& run);

struct RecurrentBackward {
  const float* weight = nullptr;  ///< [G*H, H]; null: what flows back through it into h0 is left to the caller
  float* gates = nullptr;     ///< [B, T, G*H] in: as forward left them; out: gradients before activation, input side
  float* hidden = nullptr;    ///< [B, T, G*H] out, or null: the same of the hidden side; an LSTM's do not differ
  float* extra = nullptr;     ///< [B, T, H] in: as forward left it
  const float* y = nullptr;   ///< [B, T, H]
  const float* h0 = nullptr;  ///< [B, H], or null for zeros
  const float* c0 = nullptr;  ///< likewise
  const float* dy = nullptr;  ///< [B, T, H], or null for zeros
  float* dh = nullptr;        ///< [B, H] in: the last state's gradient; out: the first's
  float* dc = nullptr;        ///< [B, H] likewise, of an LSTM's cells
  bool first_state = false;   ///< whether dh is wanted as result: otherwise the first step's product is saved
  float* before = nullptr;    ///< [B, T, H] out, or null: the state that each step began with, zero beyond lengths
};
void recurrent_backward(Cell cell, const Sequences& sequences, const RecurrentBackward& run);

}  // namespace attend::kernels
