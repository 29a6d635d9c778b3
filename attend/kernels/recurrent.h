// GRU and LSTM over whole sequences: the recurrent part. The caller (attend/ops/recurrence.cpp) computes the
// projections of the inputs, and the gradients of weights and inputs, as matrix products over all steps.
//
// Sequences are independent, so each thread processes some of them through all steps, without barriers. It multiplies
// by the recurrent weight, which is packed once for each call, and applies the gates while the sums are in the cache.
//
// Shapes: B sequences, T steps, H units, G gates (GRU: 3, r, z, n; LSTM: 4, i, f, g, o).
#pragma once
#include <cstdint>

namespace attend::kernels {

enum class Cell { gru, lstm };
constexpr std::int64_t gates_of(Cell cell) { return cell == Cell::gru ? 3 : 4; }

/// The sizes, and the order of steps. Sequence b has lengths[b] of the T steps, or all T if `lengths` is null. With
/// `reverse`, it is processed from its last step to its first.
struct Sequences {
  std::int64_t batch, steps, hidden;
  const std::int32_t* lengths = nullptr;
  bool reverse = false;

  std::int64_t length(std::int64_t b) const { return lengths ? lengths[b] : steps; }
};

struct RecurrentForward {
  const float* weight = nullptr;  ///< [G*H, H]; null: `add` already contains W_hh h0, for a single step
  const float* add = nullptr;     ///< b_hh [G*H], or [B, G*H] with add_stride = G*H
  std::int64_t add_stride = 0;
  float* gates = nullptr;     ///< [B, T, G*H] in: W_ih x + b_ih; out, if `keep`: the activated gates
  float* extra = nullptr;     ///< [B, T, H] out, if `keep`: W_hn h + b_hn (GRU) or the cell states (LSTM)
  bool keep = false;          ///< keep what the backward pass needs
  const float* h0 = nullptr;  ///< [B, H], or null for zeros
  float* y = nullptr;         ///< [B, T, H] out; zero in padding
  float* h = nullptr;         ///< [B, H] out: the state after the last step of each sequence
  float* c = nullptr;         ///< [B, H] LSTM: in: the first cell state; out: the last one
};
void recurrent_forward(Cell cell, const Sequences& sequences, const RecurrentForward& run);

struct RecurrentBackward {
  const float* weight =
      nullptr;                ///< [G*H, H]; null: the caller adds the gradient of h0 through W_hh, for a single step
  float* gates = nullptr;     ///< [B, T, G*H] in: from the forward pass; out: gradients of W_ih x + b_ih
  float* hidden = nullptr;    ///< [B, T, G*H] out, or null: gradients of W_hh h + b_hh; for an LSTM the same as `gates`
  float* extra = nullptr;     ///< [B, T, H] in: from the forward pass
  const float* y = nullptr;   ///< [B, T, H]
  const float* h0 = nullptr;  ///< [B, H], or null for zeros
  const float* c0 = nullptr;  ///< [B, H], or null for zeros
  const float* dy = nullptr;  ///< [B, T, H], or null for zeros
  float* dh = nullptr;        ///< [B, H] in: gradient of the last state; out: of the first
  float* dc = nullptr;        ///< [B, H] LSTM: in: gradient of the last cell state; out: of the first
  bool first_state = false;   ///< whether the gradient of h0 is needed; otherwise a product is skipped
  float* before = nullptr;    ///< [B, T, H] out, or null: the state before each step; zero in padding
};
void recurrent_backward(Cell cell, const Sequences& sequences, const RecurrentBackward& run);

}  // namespace attend::kernels
