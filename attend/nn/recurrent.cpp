#include "attend/nn/recurrent.h"

#include "attend/core/error.h"
#include "attend/nn/init.h"
#include "attend/ops/concat.h"
#include "attend/ops/dropout.h"

namespace attend {

RecurrentStack::RecurrentStack(const char* name, kernels::Cell cell, const RecurrentLayerOptions& options,
                               Generator& generator)
    : options(options), name_(name), cell_(cell) {
  if (options.input < 1 || options.hidden < 1 || options.layers < 1)
    fail(name, "sizes must be positive: got input ", options.input, ", hidden ", options.hidden, " and ",
         options.layers, " layers");
  const std::int64_t rows = kernels::gates_of(cell) * options.hidden, directions = options.bidirectional ? 2 : 1;
  const auto parameter = [&](const Shape& shape) {
    Tensor tensor = Tensor::empty(shape);
    init::uniform_fan_in(tensor, options.hidden, generator);
    return tensor;
  };
  for (int layer = 0; layer < options.layers; ++layer)
    for (std::int64_t direction = 0; direction < directions; ++direction) {
      RecurrentWeights w;
      w.weight_ih = parameter({rows, layer == 0 ? options.input : directions * options.hidden});
      w.weight_hh = parameter({rows, options.hidden});
      if (options.bias) w.bias_ih = parameter({rows}), w.bias_hh = parameter({rows});
      weights.push_back(std::move(w));
    }
}

RecurrentOutput RecurrentStack::run(const Tensor& x, const RecurrentState& state, const Tensor& lengths,
                                    const Tensor& projected) const {
  if (weights.empty()) fail("recurrent", "this layer has no weights: construct it with options first");
  const std::size_t count = weights.size(), directions = options.bidirectional ? 2 : 1;
  for (const std::vector<Tensor>* states : {&state.h, &state.c})
    if (!states->empty() && states->size() != count)
      fail(name_, "a state has one tensor for each layer and direction: got ", states->size(), ", expected ", count);
  if (projected.defined() && options.bidirectional)
    fail(name_, "projected input is not supported in a bidirectional layer");
  const bool lstm = cell_ == kernels::Cell::lstm;
  RecurrentOutput output{.y = x, .state = {}};
  for (std::size_t first = 0; first < count; first += directions) {
    const Tensor input = first > 0 ? dropout(output.y, options.dropout) : x;
    std::vector<Tensor> ys;
    for (std::size_t i = first; i < first + directions; ++i) {
      RecurrentResult result = recurrence(name_, cell_, input, weights[i],
                                          {.h0 = state.h.empty() ? Tensor() : state.h[i],
                                           .c0 = state.c.empty() ? Tensor() : state.c[i],
                                           .lengths = lengths,
                                           .reverse = i > first,
                                           .projected = first == 0 ? projected : Tensor()});
      ys.push_back(std::move(result.y));
      output.state.h.push_back(std::move(result.h));
      if (lstm) output.state.c.push_back(std::move(result.c));
    }
    output.y = directions == 1 ? ys[0] : concat(ys, -1);
  }
  return output;
}

RecurrentOutput RecurrentStack::run_step(const Tensor& x, const RecurrentState& state) const {
  if (options.bidirectional) fail(name_, "a single step is not possible in a bidirectional layer");
  if (x.rank() != 2) fail(name_, "wrong shape of the input of a single step: got ", x.shape(), ", expected [B, I]");
  RecurrentOutput output = run(x.reshape({x.dim(0), 1, x.dim(1)}), state, {});
  output.y = output.y.reshape({x.dim(0), options.hidden});
  return output;
}

}  // namespace attend
