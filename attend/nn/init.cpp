#include "attend/nn/init.h"

#include <cmath>

#include "attend/core/error.h"

namespace attend::init {
namespace {

thread_local bool skip = false;

struct Fans {
  float in, out;
};
Fans fans(const Tensor& weight) {
  if (weight.rank() < 2) fail("init", "fan-in and fan-out need at least two dimensions: got ", weight.shape());
  const std::int64_t field = weight.shape().without(0).without(0).numel();
  return {static_cast<float>(weight.dim(1) * field), static_cast<float>(weight.dim(0) * field)};
}

}  // namespace

Skipped::Skipped() : before_(skip) { skip = true; }
Skipped::~Skipped() { skip = before_; }
bool skipped() { return skip; }

void xavier_uniform(Tensor& weight, float gain, Generator& generator) {
  const auto [in, out] = fans(weight);
  const float bound = gain * std::sqrt(6.f / (in + out));
  if (!skip) fill_uniform(weight, -bound, bound, generator);
}

void normal(Tensor& weight, float deviation, Generator& generator) {
  if (!skip) fill_normal(weight, 0.f, deviation, generator);
}

void uniform_fan_in(Tensor& weight, std::int64_t fan_in, Generator& generator) {
  const float bound = fan_in > 0 ? 1.f / std::sqrt(static_cast<float>(fan_in)) : 0.f;
  if (!skip) fill_uniform(weight, -bound, bound, generator);
}

}  // namespace attend::init
