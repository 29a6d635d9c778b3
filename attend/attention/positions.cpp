#include "attend/attention/positions.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "attend/core/error.h"
#include "attend/ops/embedding.h"
#include "attend/ops/transpose.h"

namespace attend {
namespace {

/// ω_i in Vaswani et al. 2017, section 3.5.
double frequency(std::int64_t i, std::int64_t D) {
  return std::pow(10000.0, -2.0 * static_cast<double>(i) / static_cast<double>(D));
}

}  // namespace

Tensor sinusoidal_positions(std::int64_t T, std::int64_t D, std::int64_t first, PositionLayout layout) {
  Tensor table = Tensor::zeros({T, D});
  const bool fairseq = layout == PositionLayout::fairseq, halves = fairseq || layout == PositionLayout::halves;
  const std::int64_t sines = fairseq ? D / 2 : (D + 1) / 2;
  for (std::int64_t i = 0; i < sines; ++i) {
    const double omega = fairseq ? frequency(i, std::max<std::int64_t>(2 * (sines - 1), 1)) : frequency(i, D);
    const std::int64_t sine = halves ? i : 2 * i, cosine = halves ? sines + i : 2 * i + 1;
    for (std::int64_t t = 0; t < T; ++t) {
      const double angle =
          static_cast<double>(first + t) * omega;  // double: float32 loses the phase at large positions
      table.data()[t * D + sine] = static_cast<float>(std::sin(angle));
      if (cosine < D) table.data()[t * D + cosine] = static_cast<float>(std::cos(angle));
    }
  }
  return table;
}

Tensor position_rotation(std::int64_t offset, std::int64_t D) {
  if (D % 2 != 0) fail("position_rotation", "D must be even, for pairs of sine and cosine: got D ", D);
  Tensor rotation = Tensor::zeros({D, D});
  for (std::int64_t i = 0; i < D / 2; ++i) {
    const double angle = static_cast<double>(offset) * frequency(i, D);
    const auto cosine = static_cast<float>(std::cos(angle)), sine = static_cast<float>(std::sin(angle));
    float* block = rotation.data() + 2 * i * D + 2 * i;
    block[0] = cosine, block[1] = sine;  // sin(a + b) = cos b sin a + sin b cos a
    block[D] = -sine, block[D + 1] = cosine;
  }
  return rotation;
}

RelativeBias::RelativeBias(std::int64_t buckets, std::int64_t heads, bool both_directions, std::int64_t most,
                           Generator& generator)
    : table(Tensor::empty({buckets, heads})), bidirectional(both_directions), max_distance(most) {
  const std::int64_t near = (both_directions ? buckets / 2 : buckets) / 2;
  if (near < 1 || most <= near)
    fail<InputError>("positions", "max_distance must exceed the number of buckets for exact distances: got ", buckets,
                     " buckets and a max_distance of ", most);
  init::normal(table, 0.02f, generator);
}

std::int32_t RelativeBias::bucket(std::int64_t offset) const {
  std::int64_t buckets = table.dim(0), first = 0;
  if (bidirectional) {
    buckets /= 2;
    if (offset > 0) first = buckets;
  }
  const std::int64_t distance = bidirectional ? std::abs(offset) : std::max<std::int64_t>(-offset, 0);
  const std::int64_t near = buckets / 2;  // each smaller distance has its own bucket
  if (distance < near) return static_cast<std::int32_t>(first + distance);
  // float32, as in Hugging Face transformers: between two buckets, the result depends on rounding.
  const float share = std::log(static_cast<float>(distance) / static_cast<float>(near)) /
                      static_cast<float>(std::log(static_cast<double>(max_distance) / static_cast<double>(near)));
  const auto far = near + static_cast<std::int64_t>(share * static_cast<float>(buckets - near));
  return static_cast<std::int32_t>(first + std::min(far, buckets - 1));
}

Tensor RelativeBias::operator()(std::int64_t T, std::int64_t S) const {
  std::vector<std::int32_t> of_offset, buckets;  // of_offset[i]: the bucket of the offset i - (T - 1)
  for (std::int64_t offset = 1 - T; offset < S; ++offset) of_offset.push_back(bucket(offset));
  for (std::int64_t t = 0; t < T; ++t)
    buckets.insert(buckets.end(), of_offset.begin() + (T - 1 - t), of_offset.begin() + (T - 1 - t + S));
  const std::int64_t H = table.dim(1);
  const Tensor by_pair = embedding(table, Tensor::ids(buckets, {T * S}));  // [T·S, H]
  return transpose(by_pair, 0, 1).reshape({1, H, T, S});
}

Tensor RelativeBias::last(std::span<const std::int64_t> lengths) const {
  const std::int64_t H = table.dim(1), S = lengths.empty() ? 0 : std::ranges::max(lengths);
  // Sequences of the same length share their bias.
  const bool equal = !lengths.empty() && std::ranges::min(lengths) == S;
  const std::int64_t N = equal ? 1 : std::ssize(lengths);
  Tensor by_distance = Tensor::empty({H, S});  // column S - 1 - d: the bias of the key d positions before the query
  for (std::int64_t s = 0; s < S; ++s) {
    const float* row = table.data() + bucket(s - (S - 1)) * H;
    for (std::int64_t h = 0; h < H; ++h) by_distance.data()[h * S + s] = row[h];
  }
  if (equal) return by_distance.reshape({1, H, S});
  Tensor bias = Tensor::zeros({N, H, S});
  for (std::int64_t n = 0; n < N; ++n) {
    const std::int64_t length = lengths[static_cast<std::size_t>(n)];
    for (std::int64_t h = 0; h < H; ++h)
      std::copy_n(by_distance.data() + (h + 1) * S - length, length, bias.data() + (n * H + h) * S);
  }
  return bias;
}

}  // namespace attend
