#include "attend/ops/low_rank.h"

#include <optional>
#include <utility>
#include <vector>

#include "attend/kernels/dropout.h"
#include "attend/kernels/matmul.h"
#include "attend/kernels/weight_gradient.h"
#include "attend/ops/check.h"
#include "attend/ops/dropout.h"
#include "attend/ops/tape.h"

namespace attend {
namespace {

void check(const Tensor& y, const Tensor& x, const LowRank& update) {
  check_float("low_rank", "A", update.a);
  check_float("low_rank", "B", update.b);
  const bool matrices = update.a.rank() == 2 && update.b.rank() == 2 && update.a.dim(0) == update.b.dim(1);
  if (!matrices || x.rank() < 1 || x.dim(-1) != update.a.dim(1) || x.rows() != y.rows() || update.first < 0 ||
      update.first + update.b.dim(0) > y.dim(-1))
    fail("low_rank", "the update does not fit: got A ", update.a.shape(), ", B ", update.b.shape(), ", x ", x.shape(),
         " and y ", y.shape(), ", expected A [R, K], B [N, R], x [..., K] and y [..., at least N]");
}

/// Updates with the same A.
struct Group {
  Tensor a;
  float scale = 1.f, dropout = 0.f;
  PhiloxKey key = {};
  Tensor product = {};  // [rows, R], scale · dropout(x) Aᵀ
  struct Part {
    Tensor b;
    std::int64_t first;
    std::size_t input;  // index of b among the inputs of the op
  };
  std::vector<Part> parts = {};
  std::size_t input = 0;  // index of a

  Tensor dropped(const Tensor& x) const {
    if (dropout == 0.f) return x;
    Tensor y = Tensor::like(x);
    kernels::dropout(x.numel(), kernels::DropoutRate(dropout), key, x.data(), y.data(), false);
    return y;
  }
};

void multiply_by(float factor, const Tensor& x) {
  if (factor == 1.f) return;
  for (float& value : x.span()) value *= factor;
}

/// Adds the gradients of A, B and x; `dx` is null if x needs none.
void add_gradients(const Group& group, const Tensor& x, const Tensor& dy, Grads& grads, const Grads::Target* dx) {
  const std::int64_t rows = dy.rows(), K = group.a.dim(1), R = group.a.dim(0), M = dy.dim(-1);
  const Tensor dproduct = Tensor::empty({rows, R});
  bool more = false;
  for (const Group::Part& part : group.parts) {
    const std::int64_t N = part.b.dim(0);
    kernels::matmul({.m = rows, .n = R, .k = N, .accumulate = std::exchange(more, true), .a_stride = M},
                    dy.data() + part.first, part.b.data(), dproduct.data());
    if (!grads.wants(part.input)) continue;
    const Grads::Target db = grads.target(part.input);
    kernels::matmul({.m = N, .n = R, .k = rows, .transpose_a = true, .accumulate = db.accumulate, .a_stride = M},
                    dy.data() + part.first, group.product.data(), db.tensor.data());
  }
  multiply_by(group.scale, dproduct);
  if (grads.wants(group.input)) {
    const Grads::Target da = grads.target(group.input);
    const Tensor dropped = group.dropped(x);
    const kernels::BatchRows all{rows, dproduct.data(), dropped.data()};
    kernels::weight_gradient({.m = R, .n = K, .accumulate = da.accumulate}, {&all, 1}, da.tensor.data());
  }
  if (!dx) return;
  const bool drops = group.dropout > 0.f;
  const Tensor product = drops ? Tensor::empty({rows, K}) : dx->tensor;
  kernels::matmul({.m = rows, .n = K, .k = R, .accumulate = !drops && dx->accumulate}, dproduct.data(), group.a.data(),
                  product.data());
  if (drops)
    kernels::dropout(rows * K, kernels::DropoutRate(group.dropout), group.key, product.data(), dx->tensor.data(),
                     dx->accumulate);
}

}  // namespace

Tensor add_low_rank(Tensor y, const Tensor& x, std::span<const LowRank> updates) {
  check_float("low_rank", "x", x);
  check_float("low_rank", "y", y);
  std::vector<Tensor> inputs{y, x};
  std::vector<Group> groups;
  for (const LowRank& update : updates) {
    check(y, x, update);
    if (groups.empty() || groups.back().a.raw() != update.a.raw()) {
      const float dropout = training() ? update.dropout : 0.f;
      groups.push_back({.a = update.a.detach(),
                        .scale = update.scale,
                        .dropout = dropout,
                        .key = dropout > 0.f ? default_generator().next() : PhiloxKey{},
                        .input = inputs.size()});
      inputs.push_back(update.a);
    }
    groups.back().parts.push_back({update.b.detach(), update.first, inputs.size()});
    inputs.push_back(update.b);
  }
  const std::int64_t rows = x.rows(), K = x.dim(-1), M = y.dim(-1);
  Tensor sum = y.detach();
  for (Group& group : groups) {
    const std::int64_t R = group.a.dim(0);
    group.product = Tensor::empty({rows, R});
    kernels::matmul({.m = rows, .n = R, .k = K, .transpose_b = true}, group.dropped(x).data(), group.a.data(),
                    group.product.data());
    multiply_by(group.scale, group.product);
    for (const Group::Part& part : group.parts)
      kernels::matmul({.m = rows, .n = part.b.dim(0), .k = R, .transpose_b = true, .accumulate = true, .c_stride = M},
                      group.product.data(), part.b.data(), sum.data() + part.first);
  }
  return record("low_rank", sum, inputs, [groups = std::move(groups), x = x.detach()](const Tensor& dy, Grads& grads) {
    grads.add(0, dy);
    std::optional<Grads::Target> dx;
    for (const Group& group : groups) {
      if (grads.wants(1)) {
        if (dx)
          dx->accumulate = true;
        else
          dx = grads.target(1);
      }
      add_gradients(group, x, dy, grads, dx ? &*dx : nullptr);
    }
  });
}

}  // namespace attend
