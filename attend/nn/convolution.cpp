#include "attend/nn/convolution.h"

#include "attend/core/error.h"

namespace attend {
namespace {

void start(Tensor& weight, Tensor& bias, const Shape& shape, Generator& generator) {
  weight = Tensor::empty(shape);
  bias = Tensor::empty({shape[0]});
  const std::int64_t fan_in = shape.without(0).numel();
  init::uniform_fan_in(weight, fan_in, generator);
  init::uniform_fan_in(bias, fan_in, generator);
}

std::int64_t per_group(std::int64_t in, std::int64_t groups) {
  if (groups < 1 || in % groups != 0)
    fail("convolution", "groups must divide the input channels: got ", in, " channels and ", groups, " groups");
  return in / groups;
}

}  // namespace

Conv1d::Conv1d(std::int64_t in, std::int64_t out, std::int64_t kernel, const Convolution1dOptions& o,
               Generator& generator)
    : options(o) {
  start(weight, bias, {out, per_group(in, o.groups), kernel}, generator);
}

}  // namespace attend
