#include "attend/nn/feed_forward.h"

#include <gtest/gtest.h>

#include "attend/nn/module.h"
#include "attend/ops/activation.h"
#include "attend/ops/arithmetic.h"
#include "attend/ops/dropout.h"
#include "tests/support/golden.h"
#include "tests/support/gradcheck.h"

namespace attend {
namespace {

using test::Tensors;

std::vector<std::string> names_of(FeedForward network) {
  std::vector<std::string> names;
  for (const NamedTensor& parameter : parameters(network)) names.push_back(parameter.name);
  return names;
}

TEST(FeedForward, NamesItsParameters) {
  EXPECT_EQ(names_of(FeedForward({.width = 3, .inner = 5})),
            (std::vector<std::string>{"up.weight", "up.bias", "down.weight", "down.bias"}));
  EXPECT_EQ(names_of(FeedForward({.width = 3, .inner = 5, .gated = true, .bias = false})),
            (std::vector<std::string>{"gate.weight", "up.weight", "down.weight"}));
}

TEST(FeedForward, GatedEqualsTheProductOfTwoLayersForAnyMemoryLayout) {
  const Tensor x = test::normal({2, 3, 7}, 1);
  for (const bool bias : {true, false}) {
    FeedForward network({.width = 7, .inner = 11, .activation = Activation::silu, .gated = true, .bias = bias});
    const Tensor expected = network.down(silu(network.gate(x)) * network.up(x));
    EXPECT_EQ(network.up.weight.data(), network.gate.weight.data() + network.gate.weight.numel());
    EXPECT_TRUE(test::close(network(x), expected, {.absolute = 1e-6f}));
    network.up.weight = network.up.weight.copy();  // not contiguous any more
    EXPECT_TRUE(test::close(network(x), expected, {.absolute = 1e-6f}));
  }
}

TEST(FeedForward, GradientsOfEveryParameterMatchFiniteDifferences) {
  for (const bool together : {true, false}) {
    FeedForward network({.width = 5, .inner = 7, .activation = Activation::gelu_tanh, .gated = true});
    if (!together) network.up.weight = network.up.weight.copy();
    Tensors inputs = {test::normal({3, 5}, 1)};
    for (const NamedTensor& parameter : parameters(network)) inputs.push_back(parameter.tensor);
    test::expect_gradients(
        [&](const Tensors& in) {
          FeedForward same = network;
          std::size_t next = 1;
          for_each_parameter(same, [&](const std::string&, Tensor& parameter) { parameter = in[next++]; });
          return same(in[0]);
        },
        inputs);
  }
}

TEST(FeedForward, DropoutActsOnlyInTraining) {
  const FeedForward network({.width = 4, .inner = 8, .activation = Activation::gelu, .dropout = 0.5f});
  const Tensor x = test::normal({3, 4});
  const std::vector<float> once = network(x).to_vector();
  EXPECT_EQ(network(x).to_vector(), once);
  const Training training;
  EXPECT_NE(network(x).to_vector(), once);
}

}  // namespace
}  // namespace attend
