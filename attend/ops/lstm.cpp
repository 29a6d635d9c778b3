#include "attend/ops/lstm.h"

namespace attend {

RecurrentResult lstm(const Tensor& x, const RecurrentWeights& weights, const RecurrentOptions& options) {
  return recurrence("lstm", kernels::Cell::lstm, x, weights, options);
}

}  // namespace attend
