#include "attend/attention/multi_head.h"

#include <gtest/gtest.h>

#include "attend/nn/module.h"
#include "tests/support/errors.h"
#include "tests/support/golden.h"
#include "tests/support/gradcheck.h"

namespace attend {
namespace {

using test::close;
using test::golden;
using test::normal;
using test::Tensors;

/// The PyTorch layer of the golden file: width 12, 3 heads, key size 5, value size 7.
MultiHeadAttention golden_layer(const SafetensorsFile& file) {
  MultiHeadAttention layer({.width = 12, .heads = 3, .key_size = 5, .value_size = 7});
  for (const NamedTensor& parameter : parameters(layer)) {
    const Tensor value = file.get("heads/parameters/" + parameter.name);
    std::ranges::copy(value.span(), parameter.tensor.data());
  }
  return layer;
}

TEST(MultiHead, EqualsPyTorchAndRecordsTheWeightsOfEveryHead) {
  const SafetensorsFile file = golden("attention");
  const MultiHeadAttention layer = golden_layer(file);
  Probe probe;
  probe.enter("cross");
  const Tensor y = layer(file.get("heads/query"), file.get("heads/key"), file.get("heads/value"),
                         Mask::keys(file.get("lengths")), &probe);
  EXPECT_TRUE(close(y, file.get("heads/result"), {1e-5f, 1e-5f}));
  ASSERT_EQ(probe.records().size(), 1u);
  EXPECT_EQ(probe.records()[0].layer, "cross");
  EXPECT_TRUE(close(probe.records()[0].weights, file.get("heads/weights"), {1e-5f, 1e-6f}));
}

TEST(MultiHead, AdditiveScoresEqualPyTorch) {
  const SafetensorsFile file = golden("attention");
  MultiHeadAttention layer = golden_layer(file);
  layer.additive_v = file.get("heads/additive_v");
  Probe probe;
  const Tensor y = layer(file.get("heads/query"), file.get("heads/key"), file.get("heads/value"),
                         Mask::keys(file.get("lengths")), &probe);
  EXPECT_TRUE(close(y, file.get("heads/additive_result"), {1e-5f, 1e-5f}));
  EXPECT_TRUE(close(probe.records()[0].weights, file.get("heads/additive_weights"), {1e-5f, 1e-6f}));
}

TEST(MultiHead, GradientsReachInputsAndParameters) {
  for (const bool additive : {false, true}) {
    MultiHeadAttention layer({.width = 6, .heads = 2, .additive = additive});
    const Tensor x = normal({2, 4, 6});
    test::expect_gradients(
        [&](const Tensors& t) {
          MultiHeadAttention copy = layer;
          copy.query.weight = t[1], copy.value.bias = t[2];
          if (additive) copy.additive_v = t[3];
          return copy(t[0], t[0], t[0], Mask::causal());
        },
        {x, layer.query.weight.copy(), layer.value.bias.copy(), normal({2, 3})});
  }
}

TEST(MultiHead, ASentenceAloneEqualsItselfInAPaddedBatch) {
  const MultiHeadAttention layer({.width = 8, .heads = 2});
  const Tensor batch = normal({2, 5, 8});
  const Tensor padded = layer(batch, batch, batch, Mask::keys(Tensor::ids({5, 3}, {2})));
  const Tensor alone = batch.view_rows(1, 2).reshape({5, 8}).view_rows(0, 3).reshape({1, 3, 8});
  const Tensor single = layer(alone, alone, alone);
  for (std::int64_t i = 0; i < single.numel(); ++i) EXPECT_NEAR(single.data()[i], padded.data()[5 * 8 + i], 1e-5);
}

TEST(MultiHead, HeadsMustDivideTheWidth) {
  EXPECT_ERROR(MultiHeadAttention({.width = 10, .heads = 3}), "got 3 heads and width 10");
}

}  // namespace
}  // namespace attend
