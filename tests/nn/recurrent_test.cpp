#include "attend/nn/recurrent.h"

#include <gtest/gtest.h>

#include "attend/nn/module.h"
#include "attend/ops/dropout.h"
#include "attend/ops/tape.h"
#include "tests/support/errors.h"
#include "tests/support/golden.h"
#include "tests/support/gradcheck.h"

namespace attend {
namespace {

using test::normal;
using test::Tensors;

/// Compares results and all gradients, for two bidirectional layers with different lengths and initial states.
template <typename Layer>
void expect_pytorch(const std::string& name) {
  const SafetensorsFile file = test::golden("recurrent");
  const auto get = [&](const std::string& key) { return file.get(name + "/" + key); };
  const Tensor h0 = get("h0"), lengths = get("lengths");
  Layer layer({.input = 7, .hidden = 5, .layers = 2, .bidirectional = true});
  for_each_parameter(layer, [&](const std::string& key, Tensor& tensor) {
    ASSERT_EQ(tensor.shape(), get(key).shape()) << key;
    tensor = get(key).copy();
    require_grad(tensor);
  });
  Tensor x = get("x").copy();
  require_grad(x);
  const bool lstm = file.contains(name + "/c0");
  const auto states = [&](const std::string& key) {
    Tensors parts;
    for (std::int64_t i = 0; i < 4; ++i) parts.push_back(get(key).view_rows(i, i + 1).reshape({3, 5}).copy());
    return parts;
  };
  RecurrentState state{states("h0")};
  if (lstm) state.c = states("c0");
  for (Tensors* list : {&state.h, &state.c})
    for (Tensor& part : *list) require_grad(part);

  const RecurrentOutput output = layer(x, state, lengths);
  EXPECT_TRUE(test::close(output.y, get("y")));
  Tensors results{output.y}, seeds{get("seed/y")}, expected = states("h"), h_seeds = states("seed/h");
  for (std::size_t i = 0; i < 4; ++i) {
    EXPECT_TRUE(test::close(output.state.h[i], expected[i])) << "state " << i;
    results.push_back(output.state.h[i]), seeds.push_back(h_seeds[i]);
    if (lstm) results.push_back(output.state.c[i]), seeds.push_back(states("seed/c")[i]);
  }
  backward(record("loss", Tensor::scalar(0), results, [&](const Tensor&, Grads& grads) {
    for (std::size_t i = 0; i < seeds.size(); ++i) grads.add(i, seeds[i].copy());
  }));
  const test::Tolerance loose{1e-4f, 5e-6f};
  for_each_parameter(layer, [&](const std::string& key, Tensor& tensor) {
    EXPECT_TRUE(test::close(grad(tensor), get("d/" + key), loose)) << key;
  });
  EXPECT_TRUE(test::close(grad(x), get("d/x"), loose));
  for (std::size_t i = 0; i < 4; ++i) {
    EXPECT_TRUE(test::close(grad(state.h[i]), states("d/h0")[i], loose));
    if (lstm) {
      EXPECT_TRUE(test::close(grad(state.c[i]), states("d/c0")[i], loose));
    }
  }
}

TEST(Gru, TwoBidirectionalLayersEqualPyTorch) { expect_pytorch<Gru>("gru2"); }
TEST(Lstm, TwoBidirectionalLayersEqualPyTorch) { expect_pytorch<Lstm>("lstm2"); }

TEST(Gru, ParametersHaveTheNamesOfPyTorch) {
  Gru layer({.input = 3, .hidden = 2, .layers = 2, .bidirectional = true});
  std::vector<std::string> names;
  for_each_parameter(layer, [&](const std::string& name, Tensor&) { names.push_back(name); });
  ASSERT_EQ(names.size(), 16U);
  EXPECT_EQ(names[0], "weight_ih_l0");
  EXPECT_EQ(names[7], "bias_hh_l0_reverse");
  EXPECT_EQ(names[12], "weight_ih_l1_reverse");
  EXPECT_EQ(layer.weights[2].weight_ih.shape(), (Shape{6, 4}));  // the input of the second layer has both directions
  Gru plain({.input = 3, .hidden = 2, .bias = false});
  EXPECT_EQ(count_parameters(plain), 6 * 3 + 6 * 2);
}

TEST(Lstm, StepByStepEqualsTheWholeSequence) {
  const Lstm layer({.input = 3, .hidden = 4, .layers = 2});
  const Tensor x = normal({2, 5, 3});
  const RecurrentOutput whole = layer(x);
  RecurrentOutput step;
  for (std::int64_t t = 0; t < 5; ++t) {
    Tensor now = Tensor::empty({2, 3});
    for (std::int64_t b = 0; b < 2; ++b) std::copy_n(x.data() + (b * 5 + t) * 3, 3, now.data() + b * 3);
    step = layer.step(now, step.state);
  }
  for (std::size_t i = 0; i < 2; ++i) {
    EXPECT_TRUE(test::close(step.state.h[i], whole.state.h[i]));
    EXPECT_TRUE(test::close(step.state.c[i], whole.state.c[i]));
  }
  EXPECT_TRUE(test::close(step.y, whole.state.h[1]));
}

TEST(Gru, DropoutActsBetweenLayersInTraining) {
  const Gru layer({.input = 3, .hidden = 4, .layers = 2, .dropout = 1.f});
  const Tensor x = normal({2, 5, 3});
  const Tensor still = layer(x).y;
  const Training training;
  const RecurrentOutput dropped = layer(x);
  EXPECT_FALSE(test::close(dropped.y, still));
  // With everything dropped, the second layer reads zeros.
  const RecurrentOutput zeros{recurrence("gru", kernels::Cell::gru, Tensor::zeros({2, 5, 4}), layer.weights[1]).y, {}};
  EXPECT_TRUE(test::close(dropped.y, zeros.y));
}

TEST(Gru, WrongStatesAreReported) {
  const Gru layer({.input = 3, .hidden = 4, .layers = 2});
  EXPECT_ERROR(layer(normal({1, 2, 3}), {{normal({1, 4})}}), "[gru] a state has one tensor for each layer");
  EXPECT_ERROR(layer.step(normal({1, 2, 3}), {}), "[1, 2, 3]");
  EXPECT_ERROR(Gru()(normal({1, 2, 3})), "[recurrent] this layer has no weights");
  EXPECT_ERROR(Gru({.input = 0, .hidden = 4}), "[gru]");
}

}  // namespace
}  // namespace attend
