#include "attend/ops/rotary.h"

#include <cmath>

#include "attend/kernels/rotary.h"
#include "attend/ops/check.h"
#include "attend/ops/tape.h"

namespace attend {
namespace {

constexpr const char* kOp = "rotate_heads";

void check(const Tensor& x, std::int64_t heads, std::int64_t head_dim, const Tensor& positions,
           const RotaryTable& table) {
  check_float(kOp, "x", x);
  check_dtype(kOp, "positions", positions, DType::i32);
  if (!table.defined()) fail(kOp, "the table is undefined");
  if (head_dim < table.rotary_dim())
    fail(kOp, "head_dim is smaller than the number of rotated features: got head_dim ", head_dim,
         ", expected at least ", table.rotary_dim());
  if (heads < 0 || x.rank() == 0 || x.dim(-1) < heads * head_dim)
    fail(kOp, "the heads do not fit x: got x ", x.shape(), " and ", heads, " heads of ", head_dim,
         ", expected x [..., W] with W at least ", heads * head_dim);
  if (positions.numel() != x.rows())
    fail(kOp, "each row needs a position: got positions ", positions.shape(), " and x ", x.shape(), ", expected ",
         x.rows(), " positions");
  const std::span<const std::int32_t> all = positions.span<std::int32_t>();
  for (std::size_t row = 0; row < all.size(); ++row)
    if (all[row] < 0 || all[row] >= table.positions())
      fail(kOp, "position ", all[row], " of row ", row, " is not in the table, expected 0 to ", table.positions() - 1);
}

}  // namespace

std::vector<double> rotary_frequencies(std::int64_t rotary_dim, double base) {
  if (rotary_dim < 0 || rotary_dim % 2 != 0) fail("rotary_frequencies", "rotary_dim must be even: got ", rotary_dim);
  std::vector<double> frequencies;
  for (std::int64_t i = 0; i < rotary_dim; i += 2)
    frequencies.push_back(std::pow(base, -static_cast<double>(i) / static_cast<double>(rotary_dim)));
  return frequencies;
}

RotaryTable::RotaryTable(std::int64_t positions, std::span<const double> frequencies, RotaryLayout pairs, double factor)
    : cosines(Tensor::empty({positions, static_cast<std::int64_t>(frequencies.size())})),
      sines(Tensor::like(cosines)),
      layout(pairs) {
  float *cosine = cosines.data(), *sine = sines.data();
  for (std::int64_t position = 0; position < positions; ++position)
    for (const double frequency : frequencies) {
      const double angle = static_cast<double>(position) * frequency;
      *cosine++ = static_cast<float>(factor * std::cos(angle)), *sine++ = static_cast<float>(factor * std::sin(angle));
    }
}

// x by value: a tensor that the caller gives away is rotated in place.
// NOLINTNEXTLINE(performance-unnecessary-value-param)
Tensor rotate_heads(Tensor x, std::int64_t heads, std::int64_t head_dim, const Tensor& positions,
                    const RotaryTable& table) {
  check(x, heads, head_dim, positions, table);
  const kernels::Rotation rotation{.rows = x.rows(),
                                   .width = x.dim(-1),
                                   .heads = heads,
                                   .head_dim = head_dim,
                                   .rotary_dim = table.rotary_dim(),
                                   .positions = positions.data<std::int32_t>(),
                                   .cosines = table.cosines.data(),
                                   .sines = table.sines.data(),
                                   .interleaved = table.layout == RotaryLayout::interleaved};
  Tensor y = x.sole_owner() ? x.detach() : Tensor::like(x);
  kernels::rotate(rotation, x.data(), y.data());
  return record(kOp, y, {x}, [rotation, positions, table](const Tensor& dy, Grads& grads) {
    const auto [dx, accumulate] = grads.target(0);
    kernels::Rotation back = rotation;
    back.inverse = true, back.accumulate = accumulate;
    kernels::rotate(back, dy.data(), dx.data());
  });
}

}  // namespace attend
