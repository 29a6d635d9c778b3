// The block with the options of Llama is compared with Hugging Face's Llama layer (tests/golden/block.py): padded,
// packed and with a cache.
#include "attend/models/block.h"

#include <gtest/gtest.h>

#include "attend/nn/module.h"
#include "attend/ops/arithmetic.h"
#include "attend/ops/reduce.h"
#include "attend/ops/tape.h"
#include "tests/support/golden.h"

namespace attend {
namespace {

constexpr test::Tolerance kClose{.relative = 1e-5f, .absolute = 2e-5f};

constexpr BlockNames kLlama = {
    .self = {"self_attn.q_proj", "self_attn.k_proj", "self_attn.v_proj", "self_attn.o_proj", "input_layernorm"},
    .up = "mlp.up_proj",
    .gate = "mlp.gate_proj",
    .down = "mlp.down_proj",
    .feed_forward_norm = "post_attention_layernorm"};

/// One layer with the golden weights.
TransformerStack llama(const SafetensorsFile& golden) {
  TransformerStack stack;
  Generator generator(1);
  stack.blocks.emplace_back(BlockOptions{.width = 20,
                                         .heads = 4,
                                         .kv_heads = 2,
                                         .head_dim = 6,
                                         .inner = 27,
                                         .activation = Activation::silu,
                                         .gated = true,
                                         .bias = false,
                                         .norm = {.kind = NormKind::rms_norm, .eps = 1e-5f},
                                         .pre_norm = true,
                                         .causal = true,
                                         .rotary = RotaryTable(32, rotary_frequencies(6, 100.0))},
                            kLlama, generator);
  for_each_parameter(stack.blocks.front(), [&](const std::string& name, Tensor& tensor) {
    const Tensor values = golden.get("weights." + name);
    ASSERT_EQ(values.shape(), tensor.shape()) << name;
    std::ranges::copy(values.span(), tensor.data());
  });
  stack.name = "layers";
  return stack;
}

TEST(TransformerBlock, MatchesHuggingFacesLlamaLayer) {
  const SafetensorsFile golden = test::golden("block");
  TransformerStack stack = llama(golden);
  train_parameters(stack.blocks.front());
  Tensor x = golden.get("x").copy();
  require_grad(x);
  const Tensor y = stack(x, {});
  EXPECT_TRUE(test::close(y.detach(), golden.get("y"), kClose));
  backward(sum(y * golden.get("dy")));
  EXPECT_TRUE(test::close(grad(x), golden.get("dx"), kClose));
  for_each_parameter(stack.blocks.front(), [&](const std::string& name, Tensor& tensor) {
    EXPECT_TRUE(test::close(grad(tensor), golden.get("gradients." + name), {.relative = 1e-4f, .absolute = 5e-5f}))
        << name;
  });
}

TEST(TransformerBlock, PackedAndCachedPassesEqualThePaddedPass) {
  const SafetensorsFile golden = test::golden("block");
  const TransformerStack stack = llama(golden);
  const NoGrad no_grad;
  const Tensor x = golden.get("x"), y = golden.get("y");
  const std::int64_t T = 7, W = 20;
  const std::vector<std::int64_t> lengths{7, 7};
  EXPECT_TRUE(
      test::close(stack(x.reshape({1, 2 * T, W}), {.mask = Mask::packed(lengths)}).reshape({2, T, W}), y, kClose));

  std::vector<std::int32_t> places;
  for (const std::int64_t length : lengths)
    for (std::int64_t t = 0; t < length; ++t) places.push_back(static_cast<std::int32_t>(t));
  KeyValueCache cache(1);
  const Tensor begun =
      stack(x.reshape({2 * T, W}), {.cache = &cache, .lengths = lengths, .positions = Tensor::ids(places, {2 * T})});
  EXPECT_TRUE(test::close(begun.reshape({2, T, W}), y, kClose));

  KeyValueCache growing(1);
  for (std::int64_t t = 0; t < T; ++t) {
    Tensor column = Tensor::empty({2, W}), expected = Tensor::empty({2, W});
    for (std::int64_t b = 0; b < 2; ++b) {
      std::copy_n(x.data() + (b * T + t) * W, W, column.data() + b * W);
      std::copy_n(y.data() + (b * T + t) * W, W, expected.data() + b * W);
    }
    const auto place = static_cast<std::int32_t>(t);
    const Tensor step = stack(column, {.cache = &growing, .positions = Tensor::ids({place, place}, {2})});
    EXPECT_TRUE(test::close(step, expected, kClose)) << "token " << t;
  }
}

}  // namespace
}  // namespace attend
