#include "attend/core/random.h"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "attend/core/tensor.h"
#include "attend/core/threads.h"

namespace attend {

std::array<std::uint32_t, 4> philox(PhiloxKey key, std::uint64_t counter) {
  constexpr std::uint64_t kMultiplier0 = 0xD2511F53, kMultiplier1 = 0xCD9E8D57;
  constexpr std::uint32_t kWeyl0 = 0x9E3779B9, kWeyl1 = 0xBB67AE85;
  auto low = [](std::uint64_t x) { return static_cast<std::uint32_t>(x); };
  auto high = [](std::uint64_t x) { return static_cast<std::uint32_t>(x >> 32); };
  std::array<std::uint32_t, 4> c = {low(counter), high(counter), low(key.stream), high(key.stream)};
  std::uint32_t k0 = low(key.seed), k1 = high(key.seed);
  for (int round = 0; round < 10; ++round) {
    const std::uint64_t p0 = kMultiplier0 * c[0], p1 = kMultiplier1 * c[2];
    c = {high(p1) ^ c[1] ^ k0, low(p1), high(p0) ^ c[3] ^ k1, low(p0)};
    k0 += kWeyl0, k1 += kWeyl1;
  }
  return c;
}

Generator& default_generator() {
  thread_local Generator generator;
  return generator;
}

namespace {

/// Fills a tensor: values[i] is element i % 4 of make(bits), where bits are the four random numbers of counter i / 4.
void fill_by_fours(Tensor& tensor, PhiloxKey key,
                   FunctionRef<std::array<float, 4>(std::array<std::uint32_t, 4>)> make) {
  float* values = tensor.data();
  const std::int64_t n = tensor.numel();
  parallel_for((n + 3) / 4, 1024, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t i = begin; i < end; ++i) {
      const std::array<float, 4> four = make(philox(key, static_cast<std::uint64_t>(i)));
      std::copy_n(four.begin(), std::min<std::int64_t>(4, n - 4 * i), values + 4 * i);
    }
  });
}

}  // namespace

void fill_uniform(Tensor& tensor, float low, float high, Generator& generator) {
  fill_by_fours(tensor, generator.next(), [=](std::array<std::uint32_t, 4> bits) {
    std::array<float, 4> out;
    for (std::size_t i = 0; i < 4; ++i) out[i] = low + (high - low) * uniform_from(bits[i]);
    return out;
  });
}

void fill_normal(Tensor& tensor, float mean, float deviation, Generator& generator) {
  fill_by_fours(tensor, generator.next(), [=](std::array<std::uint32_t, 4> bits) {
    std::array<float, 4> out;
    for (std::size_t i = 0; i < 4; i += 2) {
      const float radius =
          deviation * std::sqrt(-2.f * std::log(1.f - uniform_from(bits[i])));  // the argument of log is in (0, 1]
      const float angle = 2.f * std::numbers::pi_v<float> * uniform_from(bits[i + 1]);
      out[i] = mean + radius * std::cos(angle);
      out[i + 1] = mean + radius * std::sin(angle);
    }
    return out;
  });
}

}  // namespace attend
