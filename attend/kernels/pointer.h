// Pointer-generator networks: the mixture of a distribution over the vocabulary with one over the tokens of a source,
// and the coverage loss.
#pragma once
#include <cstdint>

namespace attend::kernels {

/// T rows of one sequence, whose source has S positions with `distinct` different ids: position s has the id
/// ids[places[s]].
struct PointerRows {
  std::int64_t rows = 0, cols = 0;  ///< T and V
  std::int64_t positions = 0;       ///< S
  std::int64_t weights_stride = 0;  ///< from one row of the weights to the next, at least S
  std::int64_t distinct = 0;
  const std::int32_t* ids = nullptr;     ///< [distinct]
  const std::int32_t* places = nullptr;  ///< [S]
  const float* logits = nullptr;         ///< [T, V]
  const float* weights = nullptr;        ///< [T, S], not negative
  const float* gate = nullptr;           ///< [T]: g = sigmoid(gate)
};

/// y = log(g softmax(logits) + (1 - g) copied), where copied[v] is the sum of the weights of all positions with the id
/// v.  y [T, V] with row stride V; log_sum [T] gets log(Σ e^logits).
void pointer_mixture(const PointerRows& p, float* y, float* log_sum);

/// The gradients of the inputs. dlogits, dweights and dgate are overwritten, or added to if `accumulate`; each may be
/// null. The row stride of dweights is that of the weights.
struct PointerGradient {
  const float* y = nullptr;        ///< the result
  const float* dy = nullptr;       ///< [T, V]
  const float* log_sum = nullptr;  ///< [T]
  float *dlogits = nullptr, *dweights = nullptr, *dgate = nullptr;
  bool add_logits = false, add_weights = false, add_gate = false;
};
void pointer_mixture_backward(const PointerRows& p, const PointerGradient& gradient);

/// Σ_t Σ_s min(w[t, s], c[t, s]) of one sequence, where c[t] is the sum of all rows before t.   w [rows, cols]
double coverage(std::int64_t rows, std::int64_t cols, const float* w);
/// dw += scale · the gradient.
void coverage_backward(std::int64_t rows, std::int64_t cols, const float* w, float scale, float* dw);

}  // namespace attend::kernels
