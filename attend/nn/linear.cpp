#include "attend/nn/linear.h"

namespace attend {

Linear::Linear(std::int64_t in, std::int64_t out, bool with_bias, Generator& generator)
    : weight(Tensor::empty({out, in})) {
  init::uniform_fan_in(weight, in, generator);
  if (!with_bias) return;
  bias = Tensor::empty({out});
  init::uniform_fan_in(bias, in, generator);
}

Linear Linear::view_rows(std::int64_t begin, std::int64_t end) const {
  const auto rows = [&](const Tensor& tensor) { return tensor.defined() ? tensor.view_rows(begin, end) : tensor; };
  return Linear(rows(weight), rows(bias), rows(scales));
}

}  // namespace attend
