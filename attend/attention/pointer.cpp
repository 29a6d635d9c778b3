#include "attend/attention/pointer.h"

#include "attend/attention/scores.h"
#include "attend/ops/concat.h"
#include "attend/ops/matmul.h"
#include "attend/ops/softmax.h"

namespace attend {

Pointer::Pointer(std::int64_t width, Generator& generator)
    : query(width, width, true, generator), key(width, width, true, generator), gate(2 * width, 1, true, generator) {
  for (Linear* part : {&query, &key, &gate}) {
    init::xavier_uniform(part->weight, 1.f, generator);
    part->bias.fill(0.f);
  }
}

Pointed Pointer::operator()(const Tensor& states, const Tensor& source, const Tensor& lengths) const {
  const Tensor weights = masked_softmax(ScaledDot()(query(states), key(source)), Mask::keys(lengths));
  return {weights, gate(concat({states, matmul(weights, source)}, -1))};
}

Tensor Pointer::keys_values(const Tensor& source) const { return concat({key(source), source}, -1); }

Pointed Pointer::over(const KeyValueCache& cache, std::size_t layer, const Tensor& states) const {
  Probe probe;
  const Tensor context = cache.attend(layer, query(states), {.heads = 1, .probe = &probe});
  const Tensor& weights = probe.records().front().weights;  // [N, 1, 1, S]
  const std::int64_t N = states.dim(0);
  return {weights.reshape({N, 1, weights.dim(3)}), gate(concat({states, context}, -1)).reshape({N, 1, 1})};
}

}  // namespace attend
