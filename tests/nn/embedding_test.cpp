#include "attend/nn/embedding.h"

#include <gtest/gtest.h>

#include "attend/ops/tape.h"

namespace attend {
namespace {

TEST(EmbeddingLayer, RowsAreScaledAndPaddingGetsNoGradient) {
  Embedding layer(3, 2);
  layer.padding = 1;
  layer.scale = 4.f;
  require_grad(layer.weight);
  const Tensor y = layer(Tensor::ids({2, 1}, {2}));
  for (std::int64_t i = 0; i < 2; ++i) EXPECT_EQ(y.data()[i], 4.f * layer.weight.data()[4 + i]);
  backward(y, Tensor::full({2, 2}, 1.f));
  EXPECT_EQ(grad(layer.weight).to_vector(), (std::vector<float>{0, 0, 0, 0, 4, 4}));
}

}  // namespace
}  // namespace attend
