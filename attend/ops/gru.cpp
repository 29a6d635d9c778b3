#include "attend/ops/gru.h"

namespace attend {

RecurrentResult gru(const Tensor& x, const RecurrentWeights& weights, const RecurrentOptions& options) {
  return recurrence("gru", kernels::Cell::gru, x, weights, options);
}

}  // namespace attend
