#include "attend/ops/recurrence.h"

#include <algorithm>
#include <array>

#include "attend/kernels/activation.h"
#include "attend/kernels/matmul.h"
#include "attend/ops/check.h"
#include "attend/ops/tape.h"

namespace attend {
namespace {

struct Sizes {
  std::int64_t batch, steps, inputs, hidden, gates;  // gates = G*H, the rows of the weights
};

/// Checks the shape of an optional tensor.
void check_shape(const char* op, const char* what, const Tensor& tensor, const Shape& expected) {
  if (!tensor.defined()) return;
  check_float(op, what, tensor);
  if (tensor.shape() != expected) fail(op, what, " does not fit: got ", tensor.shape(), ", expected ", expected);
}

Sizes check(const char* op, kernels::Cell cell, const Tensor& x, const RecurrentWeights& weights,
            const RecurrentOptions& options) {
  const std::int64_t G = kernels::gates_of(cell);
  check_float(op, "x", x);
  check_float(op, "weight_ih", weights.weight_ih);
  check_float(op, "weight_hh", weights.weight_hh);
  if (x.rank() != 3) fail(op, "wrong shape of the input: got ", x.shape(), ", expected [B, T, I]");
  if (weights.weight_hh.rank() != 2 || weights.weight_hh.dim(0) != G * weights.weight_hh.dim(1))
    fail(op, "weight_hh does not fit: got ", weights.weight_hh.shape(), ", expected [", G, "*H, H]");
  const std::int64_t H = weights.weight_hh.dim(1);
  const Sizes sizes{x.dim(0), x.dim(1), x.dim(2), H, G * H};
  if (weights.weight_ih.shape() != Shape{G * H, sizes.inputs})
    fail(op, "the input's last dimension does not fit the weight: got x ", x.shape(), " and weight_ih ",
         weights.weight_ih.shape(), ", expected weight_ih ", Shape{G * H, sizes.inputs});
  if (weights.bias_ih.defined() != weights.bias_hh.defined()) fail(op, "bias_ih and bias_hh must be given together");
  check_shape(op, "bias_ih", weights.bias_ih, {G * H});
  check_shape(op, "bias_hh", weights.bias_hh, {G * H});
  check_shape(op, "h0", options.h0, {sizes.batch, H});
  if (cell == kernels::Cell::gru && options.c0.defined())
    fail(op, "a GRU has no cell state: got c0 ", options.c0.shape());
  check_shape(op, "c0", options.c0, {sizes.batch, H});
  check_shape(op, "projected", options.projected, {sizes.batch, sizes.steps, G * H});
  if (options.lengths.defined()) check_lengths(op, options.lengths, sizes.batch, sizes.steps);
  return sizes;
}

Tensor copy_or_zeros(const Tensor& tensor, const Shape& shape) {
  return tensor.defined() ? tensor.copy() : Tensor::zeros(shape);
}

/// The tensors that the backward pass needs. The kernels overwrite `gates` with gradients.
struct Kept {
  kernels::Cell cell;
  Sizes sizes;
  Tensor x, weight_ih, weight_hh, h0, c0, lengths, gates, extra, y;
  bool reverse;

  kernels::Sequences sequences() const {
    return {sizes.batch, sizes.steps, sizes.hidden, lengths.defined() ? lengths.data<std::int32_t>() : nullptr,
            reverse};
  }
};

Tensor column_sums(std::int64_t rows, std::int64_t columns, const float* x) {
  Tensor sums = Tensor::empty({columns});
  kernels::bias_activation_backward(rows, columns, x, nullptr, Activation::none, {.dbias = sums.data()});
  return sums;
}

/// A single step is one matrix product, so packing the weight for a loop does not pay.
bool single_step(const Sizes& sizes) { return sizes.steps == 1; }

enum Input : std::size_t { kX, kWeightIh, kWeightHh, kBiasIh, kBiasHh, kH0, kC0, kProjected };

void backward(const Kept& kept, std::span<const Tensor> dys, Grads& grads) {
  const auto& [batch, steps, inputs, H, gates] = kept.sizes;
  const bool gru = kept.cell == kernels::Cell::gru, single = single_step(kept.sizes);
  const Shape state{batch, H};
  const Tensor dh = copy_or_zeros(dys[1], state);
  const Tensor dc = gru ? Tensor() : copy_or_zeros(dys[2], state);
  // The states before each step. For a single step this is h0; for several steps, the kernel collects them.
  Tensor before = kept.h0;
  if (grads.wants(kWeightHh) && !single) before = Tensor::empty(kept.y.shape());
  const Tensor hidden = gru ? Tensor::empty(kept.gates.shape()) : Tensor();
  kernels::recurrent_backward(kept.cell, kept.sequences(),
                              {.weight = single ? nullptr : kept.weight_hh.data(),
                               .gates = kept.gates.data(),
                               .hidden = gru ? hidden.data() : nullptr,
                               .extra = kept.extra.data(),
                               .y = kept.y.data(),
                               .h0 = data_or_null(kept.h0),
                               .c0 = data_or_null(kept.c0),
                               .dy = data_or_null(dys[0]),
                               .dh = dh.data(),
                               .dc = gru ? nullptr : dc.data(),
                               .first_state = grads.wants(kH0),
                               .before = grads.wants(kWeightHh) && !single ? before.data() : nullptr});

  // The kernel has overwritten `gates` with gradients.
  const Tensor& dgates = kept.gates;
  const Tensor& dhidden = gru ? hidden : dgates;
  const std::int64_t rows = batch * steps;
  if (grads.wants(kX)) {
    const auto [dx, accumulate] = grads.target(kX);
    kernels::matmul({.m = rows, .n = inputs, .k = gates, .accumulate = accumulate}, dgates.data(),
                    kept.weight_ih.data(), dx.data());
  }
  if (grads.wants(kProjected)) grads.add(kProjected, dgates);
  if (grads.wants(kWeightIh)) grads.product(kWeightIh, dgates, kept.x);
  if (grads.wants(kWeightHh) && !before.defined())
    static_cast<void>(grads.sum(kWeightHh));  // a single step from zeros: the product is zero
  else if (grads.wants(kWeightHh))
    grads.product(kWeightHh, dhidden, before);
  if (grads.wants(kBiasIh) || grads.wants(kBiasHh)) {
    const Tensor sums = column_sums(rows, gates, dgates.data());
    grads.add(kBiasIh, sums);
    grads.add(kBiasHh, gru ? column_sums(rows, gates, dhidden.data()) : sums);
  }
  if (grads.wants(kH0)) {
    if (single)
      kernels::matmul({.m = batch, .n = H, .k = gates, .accumulate = true}, dhidden.data(), kept.weight_hh.data(),
                      dh.data());
    grads.add(kH0, dh);
  }
  if (grads.wants(kC0)) grads.add(kC0, dc);
}

}  // namespace

RecurrentResult recurrence(const char* op, kernels::Cell cell, const Tensor& x, const RecurrentWeights& weights,
                           const RecurrentOptions& options) {
  const Sizes sizes = check(op, cell, x, weights, options);
  const auto& [batch, steps, inputs, H, gates] = sizes;
  const bool gru = cell == kernels::Cell::gru;
  const bool keep = needs_grad({&x, &weights.weight_ih, &weights.weight_hh, &weights.bias_ih, &weights.bias_hh,
                                &options.h0, &options.c0, &options.projected});

  const Kept kept{
      .cell = cell,
      .sizes = sizes,
      .x = x.detach(),
      .weight_ih = weights.weight_ih.detach(),
      .weight_hh = weights.weight_hh.detach(),
      .h0 = options.h0.detach(),
      .c0 = options.c0.detach(),
      .lengths = options.lengths,
      .gates = options.projected.defined() ? options.projected.copy() : Tensor::empty({batch, steps, gates}),
      .extra = keep ? Tensor::empty({batch, steps, H}) : Tensor(),
      .y = Tensor::empty({batch, steps, H}),
      .reverse = options.reverse};
  RecurrentResult result{
      .y = kept.y, .h = Tensor::empty({batch, H}), .c = gru ? Tensor() : copy_or_zeros(kept.c0, {batch, H})};

  kernels::matmul(
      {.m = batch * steps, .n = gates, .k = inputs, .transpose_b = true, .accumulate = options.projected.defined()},
      x.data(), weights.weight_ih.data(), kept.gates.data(), data_or_null(weights.bias_ih));
  Tensor add = weights.bias_hh.defined() ? weights.bias_hh.detach() : Tensor::zeros({gates});
  const bool ready = single_step(sizes) && kept.h0.defined();
  if (ready) {
    const Tensor products = Tensor::empty({batch, gates});
    kernels::matmul({.m = batch, .n = gates, .k = H, .transpose_b = true}, kept.h0.data(), weights.weight_hh.data(),
                    products.data(), add.data());
    add = products;
  }
  kernels::recurrent_forward(cell, kept.sequences(),
                             {.weight = single_step(sizes) ? nullptr : weights.weight_hh.data(),
                              .add = add.data(),
                              .add_stride = ready ? gates : 0,
                              .gates = kept.gates.data(),
                              .extra = keep ? kept.extra.data() : nullptr,
                              .keep = keep,
                              .h0 = data_or_null(kept.h0),
                              .y = result.y.data(),
                              .h = result.h.data(),
                              .c = gru ? nullptr : result.c.data()});
  if (!keep) return result;

  std::array<Tensor, 3> results{result.y, result.h, result.c};
  record(op, std::span(results).first(gru ? 2 : 3),
         {x, weights.weight_ih, weights.weight_hh, weights.bias_ih, weights.bias_hh, options.h0, options.c0,
          options.projected},
         [kept](std::span<const Tensor> dys, Grads& grads) { backward(kept, dys, grads); });
  return {results[0], results[1], results[2]};
}

}  // namespace attend
