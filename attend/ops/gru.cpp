#include "attend/ops/gru.h"

#include "attend/core/error.h"

namespace attend {

RecurrentResult gru(const Tensor& x, const RecurrentWeights& weights, const RecurrentOptions& options) {
  if (options.c0.defined()) fail("gru", "a GRU has no cells: got c0 ", options.c0.shape());
  return recurrence("gru", kernels::Cell::gru, x, weights, options);
}

}  // namespace attend
