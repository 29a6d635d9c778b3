// Models whose blocks are computed again in the backward pass.
#include "attend/ops/recompute.h"

#include <gtest/gtest.h>

#include "attend/core/memory.h"
#include "attend/models/bert.h"
#include "attend/models/causal_lm.h"
#include "attend/models/registry.h"
#include "attend/models/transformer.h"
#include "attend/ops/cross_entropy.h"
#include "attend/ops/dropout.h"
#include "attend/ops/tape.h"

namespace attend {
namespace {

std::filesystem::path fixture(const std::string& name) {
  return std::filesystem::path(ATTEND_SOURCE_DIR) / "tests/models/fixtures" / name;
}

/// The loss and all gradients of a training step.
template <typename M>
std::vector<float> step(M& model, const std::function<Tensor()>& logits, bool again) {
  default_generator().restore(11, 0);
  train_parameters(model);
  for (const NamedTensor& one : parameters(model)) zero_grad(one.tensor);
  const Training training;
  const Recompute recompute(again);
  const Tensor y = logits();
  Tensor targets = Tensor::zeros({y.rows()}, DType::i32);
  for (std::int64_t i = 0; i < targets.numel(); ++i)
    targets.data<std::int32_t>()[i] = static_cast<std::int32_t>(i * 7 % y.dim(-1));
  const Tensor loss = cross_entropy(y.reshape({-1, y.dim(-1)}), targets);
  backward(loss);
  std::vector<float> all{loss.item()};
  for (const NamedTensor& one : parameters(model))
    if (const Tensor gradient = grad(one.tensor)) {
      const std::vector<float> values = gradient.to_vector();
      all.insert(all.end(), values.begin(), values.end());
    }
  return all;
}

Tensor some_ids(std::int64_t rows, std::int64_t length) {
  std::vector<std::int32_t> ids;
  for (std::int64_t i = 0; i < rows * length; ++i) ids.push_back(static_cast<std::int32_t>(3 + i * 5 % 31));
  return Tensor::ids(ids, {rows, length});
}

TEST(RecomputedModels, Gpt2HasTheSameGradientsBitForBit) {
  CausalLm model = load_causal_lm(fixture("gpt2_switches"));
  model.options.embedding_dropout = 0.1f;
  model.decoder.set_dropout(0.2f, 0.1f);
  const auto logits = [&] { return model(some_ids(3, 20)); };
  EXPECT_EQ(step(model, logits, true), step(model, logits, false));
}

TEST(RecomputedModels, EncodersHaveTheSameGradientsBitForBitAlsoWhereLayersShareWeights) {
  for (const char* name : {"bert_bert_sequenceclassification", "bert_modernbert_sequenceclassification",
                           "bert_mpnet_sequenceclassification", "bert_albert_sequenceclassification"}) {
    Bert model = load_bert(fixture(name));
    model.encoder.set_dropout(0.2f, 0.1f);
    const std::vector<std::int64_t> lengths{9, 4};
    const auto logits = [&] {
      return model.label_texts(model.encode({some_ids(13, 1).reshape({13}), {}, lengths}), lengths);
    };
    EXPECT_EQ(step(model, logits, true), step(model, logits, false)) << name;
  }
}

TEST(RecomputedModels, EncoderDecodersHaveTheSameGradientsBitForBit) {
  for (const char* name : {"t5_relu", "marian_tied", "pegasus"}) {
    Transformer model = load_transformer(fixture(name));
    for (TransformerStack* stack : {&model.encoder, &model.decoder}) stack->set_dropout(0.2f, 0.1f);
    const auto logits = [&] { return model.logits(some_ids(2, 9), Tensor::ids({9, 6}, {2}), some_ids(2, 5)); };
    EXPECT_EQ(step(model, logits, true), step(model, logits, false)) << name;
  }
}

TEST(RecomputedModels, ADeepModelTakesMuchLessMemory) {
  CausalLm model({.vocabulary = 50, .positions = 256, .width = 32, .layers = 12, .heads = 4});
  const auto peak = [&](bool again) {
    const std::size_t before = memory_use().current;
    reset_peak_memory();
    step(
        model, [&] { return model(some_ids(4, 256)); }, again);
    return memory_use().peak - before;
  };
  const std::size_t kept = peak(false), recomputed = peak(true);
  EXPECT_LT(recomputed * 3, kept);
}

}  // namespace
}  // namespace attend
