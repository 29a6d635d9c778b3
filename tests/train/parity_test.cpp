// Whole training steps are compared with PyTorch's: forward pass, backward pass and optimiser together, so that small
// errors would accumulate.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <map>

#include "attend/ops/arithmetic.h"
#include "attend/ops/attention.h"
#include "attend/ops/concat.h"
#include "attend/ops/cross_entropy.h"
#include "attend/ops/embedding.h"
#include "attend/ops/linear.h"
#include "attend/ops/matmul.h"
#include "attend/ops/norm.h"
#include "attend/ops/softmax.h"
#include "attend/ops/tape.h"
#include "attend/ops/transpose.h"
#include "attend/ops/where.h"
#include "attend/train/optimizer.h"
#include "tests/support/golden.h"

namespace attend {
namespace {

/// softmax(q kᵀ / √D + mask) v, from separate operations.   qkv [B, T, 3·H·D] -> [B, T, H·D]
Tensor causal_attention(const Tensor& qkv, std::int64_t heads) {
  const std::int64_t batch = qkv.dim(0), steps = qkv.dim(1), width = qkv.dim(2) / 3, size = width / heads;
  std::vector<Tensor> parts = split(qkv, 3, -1);
  for (Tensor& part : parts) part = transpose(part.reshape({batch, steps, heads, size}), 1, 2);  // [B, H, T, D]
  Tensor later = Tensor::zeros({steps, steps}, DType::i8);
  for (std::int64_t i = 0; i < steps; ++i)
    for (std::int64_t j = i + 1; j < steps; ++j) later.data<std::int8_t>()[i * steps + j] = 1;
  const Tensor scores = matmul(parts[0], parts[1], {.transpose_b = true}) / std::sqrt(static_cast<float>(size));
  const Tensor weights = softmax(masked_fill(scores, later, -std::numeric_limits<float>::infinity()));
  return transpose(matmul(weights, parts[2]), 1, 2).reshape({batch, steps, width});
}

/// The causal Transformer of tests/golden/training.py: two layers, two heads, tied embedding.
struct Model {
  std::map<std::string, Tensor> weights;
  bool fused;  ///< use the fused attention kernel; false: separate operations

  Tensor dense(const std::string& name, const Tensor& x, Activation activation = Activation::none) const {
    return linear(x, weights.at(name + ".weight"), weights.at(name + ".bias"), activation);
  }
  Tensor norm(const std::string& name, const Tensor& x, const Tensor& residual) const {
    return add_layer_norm(x, residual, weights.at(name + ".weight"), weights.at(name + ".bias")).normed;
  }
  Tensor loss(const Tensor& ids, const Tensor& targets) const {
    Tensor x = embedding(weights.at("embedding"), ids) + weights.at("positions");
    for (const std::string layer : {"0.", "1."}) {
      const Tensor qkv = dense(layer + "qkv", x);
      const Tensor seen = fused ? self_attention(qkv, 2, {.mask = Mask::causal()}) : causal_attention(qkv, 2);
      x = norm(layer + "norm1", dense(layer + "out", seen), x);
      x = norm(layer + "norm2", dense(layer + "down", dense(layer + "up", x, Activation::gelu)), x);
    }
    return cross_entropy(linear(x, weights.at("embedding")), targets, {.label_smoothing = 0.1f});
  }
};

class TrainingParity : public testing::TestWithParam<bool> {};
INSTANTIATE_TEST_SUITE_P(Attention, TrainingParity, testing::Bool(),
                         [](const auto& fused) { return fused.param ? "Fused" : "Separate"; });

TEST_P(TrainingParity, TenAdamWStepsOfATwoLayerTransformerMatchPyTorch) {
  const SafetensorsFile golden = test::golden("training");
  Model model{.weights = {}, .fused = GetParam()};
  std::vector<NamedTensor> parameters;
  for (const std::string& name : golden.names()) {
    if (!name.starts_with("initial/")) continue;
    const std::string key = name.substr(8);
    Tensor& weight = model.weights[key] = golden.get(name).copy();
    require_grad(weight);
    parameters.push_back({key, weight});
  }
  AdamW optimizer(parameters, {.learning_rate = 1e-2, .weight_decay = 0.1f});
  const Tensor ids = golden.get("ids"), targets = golden.get("targets"), losses = golden.get("losses");
  ASSERT_EQ(losses.numel(), 10);
  for (std::int64_t step = 0; step < 10; ++step) {
    const Tensor loss = model.loss(ids, targets);
    EXPECT_NEAR(loss.item(), losses.data()[step], 1e-4) << "before step " << step;
    backward(loss);
    optimizer.step();
    optimizer.zero_grad();
  }
  for (const auto& [name, weight] : model.weights)
    if (golden.contains("final/" + name)) {
      const Tensor expected = golden.get("final/" + name);
      EXPECT_TRUE(test::close(weight, expected, {.relative = 1e-3f, .absolute = 1e-3f})) << name;
    }
}

}  // namespace
}  // namespace attend
