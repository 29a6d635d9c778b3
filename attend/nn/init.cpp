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
  if (weight.rank() < 2) fail("init", "fans need a matrix or a convolution: got ", weight.shape());
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

void xavier_normal(Tensor& weight, float gain, Generator& generator) {
  const auto [in, out] = fans(weight);
  if (!skip) fill_normal(weight, 0.f, gain * std::sqrt(2.f / (in + out)), generator);
}

void kaiming_uniform(Tensor& weight, float gain, Generator& generator) {
  const float bound = gain * std::sqrt(3.f / fans(weight).in);
  if (!skip) fill_uniform(weight, -bound, bound, generator);
}

void kaiming_normal(Tensor& weight, float gain, Generator& generator) {
  if (!skip) fill_normal(weight, 0.f, gain / std::sqrt(fans(weight).in), generator);
}

void normal(Tensor& weight, float deviation, Generator& generator) {
  if (!skip) fill_normal(weight, 0.f, deviation, generator);
}

void truncated_normal(Tensor& weight, float deviation, float cut, Generator& generator) {
  if (!(cut > 0.1f)) fail("init", "a normal distribution needs some room: got a cut at ", cut, " deviations");
  if (skip) return;
  Tensor values = weight;
  fill_normal(values, 0.f, 1.f, generator);
  // What fell outside is drawn again from a fresh stream; each round leaves a small share of the last.
  for (bool outside = true; outside;) {
    outside = false;
    Tensor again;
    for (std::int64_t i = 0; i < values.numel(); ++i) {
      float& value = values.data()[i];
      if (std::abs(value) <= cut) continue;
      if (!again.defined()) {
        again = Tensor::like(values);
        fill_normal(again, 0.f, 1.f, generator);
      }
      value = again.data()[i];
      outside = true;
    }
  }
  for (float& value : values.span()) value *= deviation;
}

void uniform_fan_in(Tensor& weight, std::int64_t fan_in, Generator& generator) {
  const float bound = fan_in > 0 ? 1.f / std::sqrt(static_cast<float>(fan_in)) : 0.f;
  if (!skip) fill_uniform(weight, -bound, bound, generator);
}

}  // namespace attend::init
