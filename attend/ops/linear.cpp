#include "attend/ops/linear.h"

#include <algorithm>
#include <vector>

#include "attend/kernels/matmul.h"
#include "attend/kernels/weight_gradient.h"
#include "attend/ops/check.h"
#include "attend/ops/half.h"
#include "attend/ops/tape.h"

namespace attend {
namespace {

/// One of several products y = x Wᵀ + bias with the same x [rows, in], for a weight in float32, float16 or bfloat16.
struct Product {
  const Tensor* weight;
  std::int64_t out;  // more than the rows of the weight if the next weights follow it in memory
  const float* bias;
  float* y;
  std::int64_t y_stride;
};

template <class Weights>
void multiply(std::int64_t rows, std::int64_t in, const float* x, std::span<const Product> products,
              const auto& weights_of) {
  std::vector<kernels::RowsPart<Weights>> parts;
  parts.reserve(products.size());
  for (const Product& p : products) parts.push_back({weights_of(*p.weight), p.out, p.bias, p.y, p.y_stride});
  kernels::matmul(rows, in, x, std::span<const kernels::RowsPart<Weights>>(parts));
}

void multiply(std::int64_t rows, std::int64_t in, const float* x, std::span<const Product> products) {
  const auto differs = [&](const Product& p) { return p.weight->dtype() != products.front().weight->dtype(); };
  if (std::ranges::any_of(products, differs)) {
    for (const Product& p : products) multiply(rows, in, x, {&p, 1});
  } else if (is_half(*products.front().weight)) {
    multiply<kernels::HalfNumbers>(rows, in, x, products, half_numbers);
  } else {
    multiply<const float*>(rows, in, x, products, [](const Tensor& weight) -> const float* { return weight.data(); });
  }
}

void check(const Tensor& x, const Tensor& weight, const Tensor& bias) {
  check_float("linear", "x", x);
  if (!is_half(weight)) check_float("linear", "weight", weight);
  if (is_half(weight) && needs_grad({&x, &weight, &bias}))
    fail("linear", "a ", weight.dtype(), " weight can be used, but not trained: there is no gradient");
  if (bias.defined()) check_float("linear", "bias", bias);
  if (weight.rank() != 2) fail("linear", "wrong shape of the weight: got ", weight.shape(), ", expected [N, K]");
  if (x.rank() < 1 || x.dim(-1) != weight.dim(1))
    fail("linear", "the input's last dimension does not fit the weight: got x ", x.shape(), " and weight ",
         weight.shape(), ", expected x [..., ", weight.dim(1), "]");
  if (bias.defined() && bias.shape() != Shape{weight.dim(0)})
    fail("linear", "the bias does not fit the weight: got bias ", bias.shape(), " and weight ", weight.shape(),
         ", expected bias [", weight.dim(0), "]");
}

/// An input with fewer rows may be one step of a loop. Then the weight gradients of all steps are computed together, by
/// Grads::product.
constexpr std::int64_t kFewRows = 512;

}  // namespace

Tensor linear(const Tensor& x, const Tensor& weight, const Tensor& bias, Activation activation) {
  check(x, weight, bias);
  const std::int64_t rows = x.rows(), in = weight.dim(1), out = weight.dim(0);
  const float* bias_data = bias.defined() ? bias.data() : nullptr;
  Tensor y = Tensor::empty(x.shape().with(-1, out));
  const Product product{&weight, out, activation == Activation::none ? bias_data : nullptr, y.data(), out};
  multiply(rows, in, x.data(), {&product, 1});

  Tensor saved;  // the tensor from which the activation's derivative is computed
  if (activation != Activation::none) {
    const bool keep = needs_grad({&x, &weight, &bias});
    if (keep) saved = kernels::derivative_from_output(activation) ? y : Tensor::like(y);
    float* pre = saved.defined() && !saved.shares_memory_with(y) ? saved.data() : nullptr;
    kernels::bias_activation(rows, out, y.data(), bias_data, activation, pre, y.data());
  }

  if (!recording()) return y;
  // A frozen weight needs no x.
  return record(
      "linear", y, {x, weight, bias},
      [=, x = requires_grad(weight) ? x.detach() : Tensor(), weight = weight.detach()](const Tensor& dy, Grads& grads) {
        Tensor dpre = dy;
        if (activation != Activation::none || grads.wants(2)) {
          kernels::ActivationGradient gradient;
          if (activation != Activation::none) {
            dpre = Tensor::like(dy);
            gradient.dx = dpre.data();
          }
          if (grads.wants(2)) {
            const Grads::Target dbias = grads.target(2);
            gradient.dbias = dbias.tensor.data(), gradient.add_to_dbias = dbias.accumulate;
          }
          kernels::bias_activation_backward(rows, out, dy.data(), saved.defined() ? saved.data() : nullptr, activation,
                                            gradient);
        }
        if (grads.wants(0)) {
          const Grads::Target dx = grads.target(0);
          kernels::matmul({.m = rows, .n = in, .k = out, .accumulate = dx.accumulate}, dpre.data(), weight.data(),
                          dx.tensor.data());
        }
        if (grads.wants(1) && rows < kFewRows) {
          grads.product(1, dpre, x);
        } else if (grads.wants(1)) {
          const Grads::Target dweight = grads.target(1);
          const kernels::BatchRows all{rows, dpre.data(), x.data()};
          kernels::weight_gradient({.m = out, .n = in, .accumulate = dweight.accumulate}, {&all, 1},
                                   dweight.tensor.data());
        }
      });
}

namespace {

/// Whether the tensors are contiguous in memory, one after the other.
bool together(std::span<const Tensor> parts) {
  for (std::size_t i = 1; i < parts.size(); ++i)
    if (!parts[i].shares_memory_with(parts[0]) || parts[i].raw() != parts[i - 1].raw() + parts[i - 1].bytes())
      return false;
  return true;
}

}  // namespace

void place_together(std::span<Tensor* const> parts) {
  std::int64_t rows = 0, row = 0;
  for (const Tensor* part : parts) rows += part->dim(0), row = part->numel() / std::max<std::int64_t>(part->dim(0), 1);
  const Tensor whole = Tensor::empty({rows, row});
  std::int64_t first = 0;
  for (Tensor* part : parts) {
    const Tensor place = whole.view_rows(first, first + part->dim(0)).reshape(part->shape());
    first += part->dim(0);
    std::ranges::copy(part->span(), place.data());
    *part = place;
  }
}

namespace {

/// Where the results of a group are: part i begins at column starts[i].
struct GroupColumns {
  std::vector<std::int64_t> starts{0};
  bool one = false;  // one product for all parts

  GroupColumns(const Tensor& x, std::span<const Tensor> weights, std::span<const Tensor> biases) {
    if (weights.empty() || (!biases.empty() && biases.size() != weights.size()))
      fail("linear", "either all weights have a bias or none: got ", weights.size(), " weights and ", biases.size(),
           " biases");
    for (std::size_t i = 0; i < weights.size(); ++i) {
      check(x, weights[i], biases.empty() ? Tensor() : biases[i]);
      starts.push_back(starts.back() + weights[i].dim(0));
    }
    one = together(weights) && together(biases);
  }
  std::int64_t out() const { return starts.back(); }
  std::size_t products() const { return one ? 1 : starts.size() - 1; }
  std::int64_t width(std::size_t i) const { return one ? out() : starts[i + 1] - starts[i]; }

  /// Appends the products whose results are the columns of y.
  void add_products(std::span<const Tensor> weights, std::span<const Tensor> biases, const Tensor& y,
                    std::vector<Product>& to) const {
    for (std::size_t i = 0; i < products(); ++i)
      to.push_back({&weights[i], width(i), biases.empty() ? nullptr : biases[i].data(), y.data() + starts[i], out()});
  }
};

Tensor recorded_together(const Tensor& y, const Tensor& x, std::span<const Tensor> weights,
                         std::span<const Tensor> biases, const GroupColumns& columns) {
  if (!recording()) return y;
  const std::int64_t rows = x.rows(), in = x.dim(-1), out = columns.out();
  std::vector<Tensor> inputs{x}, kept;
  inputs.insert(inputs.end(), weights.begin(), weights.end());
  inputs.insert(inputs.end(), biases.begin(), biases.end());
  for (const Tensor& weight : weights) kept.push_back(weight.detach());
  const std::size_t parts = weights.size(), bias_parts = biases.size();
  const bool trained = std::ranges::any_of(weights, requires_grad);
  return record("linear", y, inputs, [=, x = trained ? x.detach() : Tensor()](const Tensor& dy, Grads& grads) {
    if (grads.wants(0)) {
      const Grads::Target dx = grads.target(0);
      for (std::size_t i = 0; i < columns.products(); ++i)
        kernels::matmul(
            {.m = rows, .n = in, .k = columns.width(i), .accumulate = dx.accumulate || i > 0, .a_stride = out},
            dy.data() + columns.starts[i], kept[i].data(), dx.tensor.data());
    }
    // The gradients of all parts are computed together. Each part copies its rows, because a view would keep the memory
    // of all parts alive.
    const auto wanted = [&](std::size_t first, std::size_t count) {
      bool any = false;
      for (std::size_t i = 0; i < count; ++i) any |= grads.wants(first + i);
      return any;
    };
    const auto give = [&](std::size_t first, const Tensor& whole) {
      for (std::size_t i = 0; i < parts; ++i)
        grads.add(first + i, whole.view_rows(columns.starts[i], columns.starts[i + 1]).copy());
    };
    if (wanted(1, parts)) {
      const Tensor dweights = Tensor::empty({out, in});
      const kernels::BatchRows all{rows, dy.data(), x.data()};
      kernels::weight_gradient({.m = out, .n = in}, {&all, 1}, dweights.data());
      give(1, dweights);
    }
    if (wanted(1 + parts, bias_parts)) {
      const Tensor dbiases = Tensor::empty({out});
      kernels::bias_activation_backward(rows, out, dy.data(), nullptr, Activation::none, {.dbias = dbiases.data()});
      give(1 + parts, dbiases);
    }
  });
}

}  // namespace

Tensor linear_together(const Tensor& x, std::span<const Tensor> weights, std::span<const Tensor> biases) {
  const GroupColumns columns(x, weights, biases);
  const Tensor y = Tensor::empty(x.shape().with(-1, columns.out()));
  std::vector<Product> products;
  columns.add_products(weights, biases, y, products);
  multiply(x.rows(), x.dim(-1), x.data(), products);
  return recorded_together(y, x, weights, biases, columns);
}

std::vector<Tensor> linear_groups(const Tensor& x, std::span<const LinearGroup> groups) {
  std::vector<GroupColumns> columns;
  std::vector<Product> products;
  std::vector<Tensor> results;
  for (const auto& [weights, biases] : groups) {
    columns.emplace_back(x, weights, biases);
    results.push_back(Tensor::empty(x.shape().with(-1, columns.back().out())));
    columns.back().add_products(weights, biases, results.back(), products);
  }
  multiply(x.rows(), x.dim(-1), x.data(), products);
  for (std::size_t i = 0; i < results.size(); ++i)
    results[i] = recorded_together(results[i], x, groups[i].weights, groups[i].biases, columns[i]);
  return results;
}

}  // namespace attend
