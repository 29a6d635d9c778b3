#include "attend/nn/linear.h"

namespace attend {

Linear::Linear(std::int64_t in, std::int64_t out, bool with_bias, Generator& generator)
    : weight(Tensor::empty({out, in})) {
  init::uniform_fan_in(weight, in, generator);
  if (!with_bias) return;
  bias = Tensor::empty({out});
  init::uniform_fan_in(bias, in, generator);
}

}  // namespace attend
