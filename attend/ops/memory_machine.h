// A controller with an external memory over whole sequences, as one op: the Neural Turing Machine (Graves et al. 2014)
// and the Differentiable Neural Computer (Graves et al. 2016). models/turing_machine.h has the model.
//
// In each step, the controller sees the input x and the vectors r that were read in the step before:
//   h = lstm([x, r], h)   or   h = tanh(W_x x + W_r r + b)
//   ξ = W_ξ h + b_ξ                                   the interface: the parameters of all heads
//   the write heads change the memory, then the read heads read from it
//
// The memory of a Neural Turing Machine has N slots M_i with W numbers. Each head has weights w over the slots. From
// the interface it gets a key k = tanh(·), a strength β = softplus(·), a gate g = σ(·), shifts s = softmax(·) and a
// sharpness γ = 1 + softplus(·):
//   c_i = softmax_i(β cos(k, M_i))                     by content (eqs. 5, 6)
//   v = g c + (1 - g) w_before                         interpolation (eq. 7)
//   u_i = Σ_j v_j s_(i - j)                            circular shift (eq. 8)
//   w_i = u_i^γ / Σ_j u_j^γ                            sharpening (eq. 9)
//   M_i = M_i ∏_h (1 - w_h,i e_h) + Σ_h w_h,i a_h      write heads, with e = σ(·) and a = tanh(·) (eqs. 3, 4)
//   r = Σ_i w_i M_i                                    read heads (eq. 2)
// At first all numbers of the memory are 10^-6, and all heads are at slot 0. With `address` numbers, the first ones of
// each slot are its address (as in the Dynamic NTM, Gulcehre et al. 2016): random numbers that depend only on the
// slot's index and are never written, so that keys can tell empty slots apart. Then e and a have only the other
// numbers.
//
// The memory of a Differentiable Neural Computer has one write head. It writes by content or to free slots, which the
// usage u and the free gates f determine, and remembers in which order it wrote as links L:
//   u = (u + w_w - u w_w) ∏_r (1 - f_r w_r)            usage, with the weights of the step before
//   a[φ_j] = (1 - u[φ_j]) ∏_{i<j} u[φ_i]               allocation; φ sorts the slots by usage
//   w_w = g_w (g_a a + (1 - g_a) c)                    write weights
//   L_ij = (1 - w_i - w_j) L_ij + w_i p_j,  L_ii = 0   links, with the precedence p = (1 - Σ w_w) p + w_w
//   w_r = π_1 Lᵀ w_r + π_2 c + π_3 L w_r               read weights: backward, by content, forward
// At first all of it is zero. The strengths are 1 + softplus(·), gates and e are σ(·), π is a softmax.
//
// The cosine is k·M_i / (√(k·k + 10^-4) √(M_i·M_i + 10^-4)), so that slots that are almost empty have small gradients.
#pragma once
#include "attend/core/tensor.h"
#include "attend/kernels/memory_machine.h"

namespace attend {

/// The parameters. G is 4 for an LSTM (i, f, g, o) and 1 for a feed-forward controller, V = read heads · W.
struct MachineWeights {
  Tensor weight_ih = {};         ///< [G*H, I]
  Tensor weight_hh = {};         ///< [G*H, H + V]: for h and r; feed-forward: [G*H, V]: for r
  Tensor bias = {};              ///< [G*H]
  Tensor interface_weight = {};  ///< [P, H], with P = kernels::interface_size()
  Tensor interface_bias = {};    ///< [P]
};

struct MachineOptions {
  kernels::Controller controller = kernels::Controller::lstm;
  kernels::MemorySizes memory = {};
  bool weights = false;  ///< also return the weights of the heads
};

struct MachineResult {
  Tensor states;              ///< [B, T, H + V]: h and r of each step
  Tensor read_weights = {};   ///< [B, T, read heads, N] if asked for; not differentiable
  Tensor write_weights = {};  ///< [B, T, write heads, N]
};

/// x [B, T, I] -> states [B, T, H + V]. Throws Error [memory_machine] if the shapes do not fit, and InputError if the
/// sizes of the memory are out of range.
MachineResult memory_machine(const Tensor& x, const MachineWeights& weights, const MachineOptions& options);

/// Throws InputError [memory_machine] unless there are 1 to kMostHeads heads of each kind (dnc: one write head), the
/// number of shifts is odd and at most the number of slots, slots and width are positive and at most 65,536, and an
/// address has fewer numbers than a slot (dnc: none).
void check_memory(const kernels::MemorySizes& sizes);

}  // namespace attend
