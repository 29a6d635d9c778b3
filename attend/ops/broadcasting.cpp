#include "attend/ops/broadcasting.h"

#include <algorithm>
#include <vector>

#include "attend/core/error.h"
#include "attend/kernels/elementwise.h"
#include "attend/kernels/reduce.h"

namespace attend {
namespace {

/// The size of dimension d after the shape is padded on the left with ones to `rank` dimensions.
std::int64_t padded_size(const Shape& shape, int rank, int d) {
  const int own = d - (rank - shape.rank());
  return own < 0 ? 1 : shape[own];
}

}  // namespace

Shape broadcast_shape(const char* op, const Shape& a, const Shape& b) {
  const int rank = std::max(a.rank(), b.rank());
  std::vector<std::int64_t> sizes;
  for (int d = 0; d < rank; ++d) {
    const std::int64_t size_a = padded_size(a, rank, d), size_b = padded_size(b, rank, d);
    if (size_a != size_b && size_a != 1 && size_b != 1)
      fail(op, "the shapes cannot be broadcast: got ", a, " and ", b,
           ", expected sizes that are equal or 1, aligned at the last dimension");
    sizes.push_back(size_a == 1 ? size_b : size_a);
  }
  return Shape(sizes);
}

kernels::Broadcast broadcast_over(const Shape& y, const Shape& a, const Shape& b) {
  // Merges dimensions, from last to first. A new one starts only where a or b changes between broadcast and not.
  kernels::Broadcast out;
  out.a_strides = out.b_strides = {0, 0, 0, 0};
  int at = 3;
  bool open = false, a_repeats = false, b_repeats = false;
  std::int64_t a_step = 1, b_step = 1;
  for (int d = y.rank() - 1; d >= 0; --d) {
    const std::int64_t size = y[d];
    if (size == 1) continue;
    const bool a_repeats_here = padded_size(a, y.rank(), d) == 1, b_repeats_here = padded_size(b, y.rank(), d) == 1;
    if (open && (a_repeats_here != a_repeats || b_repeats_here != b_repeats)) --at, open = false;
    const auto index = static_cast<std::size_t>(at);
    if (!open) {
      open = true;
      a_repeats = a_repeats_here, b_repeats = b_repeats_here;
      out.a_strides[index] = a_repeats ? 0 : a_step;
      out.b_strides[index] = b_repeats ? 0 : b_step;
    }
    out.sizes[index] *= size;
    if (!a_repeats) a_step *= size;
    if (!b_repeats) b_step *= size;
  }
  return out;
}

void sum_to_shape(const float* gradient, const Shape& full, const Shape& shape, float* target, kernels::Store store) {
  if (full.numel() == 0) {
    if (!store.accumulate) kernels::zero(shape.numel(), target);
    return;
  }
  // After merging, broadcast and other dimensions alternate, so at most two have to be summed. The outer one is first.
  const kernels::Broadcast merged = broadcast_over(full, full, shape);
  std::vector<std::size_t> repeated;
  for (std::size_t d = 0; d < 4; ++d)
    if (merged.sizes[d] != 1 && merged.b_strides[d] == 0) repeated.push_back(d);
  if (repeated.empty()) return kernels::affine(full.numel(), gradient, store.scale, 0.f, target, store.accumulate);

  std::array<std::int64_t, 4> sizes = merged.sizes;
  Tensor partial;
  for (std::size_t i = 0; i < repeated.size(); ++i) {
    const std::size_t d = repeated[i];
    kernels::Middle middle{.n = sizes[d]};
    for (std::size_t before = 0; before < d; ++before) middle.outer *= sizes[before];
    for (std::size_t after = d + 1; after < 4; ++after) middle.inner *= sizes[after];
    if (i + 1 == repeated.size()) return kernels::sum_middle(middle, gradient, target, store);
    partial = Tensor::empty({middle.outer, middle.inner});
    kernels::sum_middle(middle, gradient, partial.data());
    gradient = partial.data();
    sizes[d] = 1;
  }
}

}  // namespace attend
