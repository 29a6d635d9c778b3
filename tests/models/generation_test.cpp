// Step-by-step generation with a Transformer gives the logits of teacher forcing, also after rows are selected or
// joined.

#include <gtest/gtest.h>

#include <random>

#include "attend/models/transformer.h"
#include "attend/nn/module.h"
#include "attend/ops/dropout.h"
#include "attend/ops/tape.h"
#include "tests/support/source_stepper.h"

namespace attend {
namespace {

using test::SourceStepper;

TransformerOptions small() {
  TransformerOptions o;
  o.source_vocabulary = o.target_vocabulary = 37;
  o.width = 12, o.encoder_layers = 2, o.decoder_layers = 2, o.encoder_heads = 2, o.decoder_heads = 3;
  o.encoder_inner = 20, o.decoder_inner = 28, o.max_positions = 16, o.start = 36;
  return o;
}

Tensor random_ids(std::int64_t rows, std::int64_t cols, std::mt19937& random) {
  std::vector<std::int32_t> ids(static_cast<std::size_t>(rows * cols));
  for (std::int32_t& id : ids) id = static_cast<std::int32_t>(random() % 36);
  return Tensor::ids(ids, {rows, cols});
}

class TransformerSteps : public testing::TestWithParam<int> {};

TEST_P(TransformerSteps, EqualTeacherForcing) {
  TransformerOptions o = small();
  o.pre_norm = o.final_norm = GetParam() & 1;
  o.learned_positions = GetParam() & 2;
  o.shared_embeddings = o.tied_output = !(GetParam() & 2);
  const Transformer model(o);
  std::mt19937 random(7);
  const NoGrad no_grad;
  const std::int64_t B = 3, T = 6;
  const Tensor ids = random_ids(B, 5, random), lengths = Tensor::ids({5, 2, 4}, {B});
  const Tensor words = random_ids(B, T, random), states = model.encode(ids, lengths);
  Probe taught;
  const Tensor expected = model.decode(states, lengths, words, &taught);

  DecodingState state = model.start(states, lengths);
  for (std::int64_t t = 0; t < T; ++t) {
    std::vector<std::int32_t> column;
    for (std::int64_t b = 0; b < B; ++b) column.push_back(words.data<std::int32_t>()[b * T + t]);
    Probe probe;
    const Tensor logits = model.step(Tensor::ids(column, {B}), state, &probe);
    for (std::int64_t b = 0; b < B; ++b)
      for (std::int64_t v = 0; v < 37; ++v)
        ASSERT_NEAR(logits.data()[b * 37 + v], expected.data()[(b * T + t) * 37 + v], 2e-5) << "step " << t;
    ASSERT_EQ(probe.records().size(), taught.records().size());
    for (std::size_t r = 0; r < probe.records().size(); ++r) {
      const Tensor &one = probe.records()[r].weights, &all = taught.records()[r].weights;
      EXPECT_EQ(probe.records()[r].layer, taught.records()[r].layer);
      for (std::int64_t row = 0; row < B * 3; ++row)
        for (std::int64_t s = 0; s < one.dim(3); ++s)
          ASSERT_NEAR(one.data()[row * one.dim(3) + s], all.data()[(row * T + t) * all.dim(3) + s], 1e-6);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(AllOptions, TransformerSteps, testing::Values(0, 1, 2, 3));

TEST(TransformerGeneration, SelectedRowsKeepTheirState) {
  const Transformer model(small());
  std::mt19937 random(3);
  const NoGrad no_grad;
  const Tensor ids = random_ids(3, 4, random), lengths = Tensor::ids({4, 1, 3}, {3});
  const Tensor states = model.encode(ids, lengths);
  SourceStepper stepper(model, {ids, lengths});
  std::vector<std::int64_t> sentence{0, 2, 1, 1};
  stepper.select(sentence);  // rows can also be selected before the first step
  std::vector<std::vector<std::int32_t>> said(4);
  const std::vector<std::vector<std::int64_t>> choices{{0, 0, 1, 1, 2, 2}, {5, 1, 0, 2, 2}, {3, 3, 4, 0}, {1}, {0, 0}};
  for (const std::vector<std::int64_t>& choice : choices) {
    std::vector<std::int32_t> words;
    for (std::vector<std::int32_t>& row : said)
      words.push_back(row.emplace_back(static_cast<std::int32_t>(random() % 36)));
    const Tensor logits = stepper.step(Tensor::ids(words, {static_cast<std::int64_t>(words.size())}));
    for (std::size_t i = 0; i < said.size(); ++i) {
      const auto T = static_cast<std::int64_t>(said[i].size());
      const std::int64_t b = sentence[i];
      const Tensor expected =
          model.decode(states.view_rows(b, b + 1), lengths.view_rows(b, b + 1), Tensor::ids(said[i], {1, T}));
      for (std::int64_t v = 0; v < 37; ++v)
        ASSERT_NEAR(logits.data()[static_cast<std::int64_t>(i) * 37 + v], expected.data()[(T - 1) * 37 + v], 2e-5);
    }
    stepper.select(choice);
    std::vector<std::int64_t> sentences;
    std::vector<std::vector<std::int32_t>> kept;
    for (const std::int64_t row : choice) {
      sentences.push_back(sentence[static_cast<std::size_t>(row)]);
      kept.push_back(said[static_cast<std::size_t>(row)]);
    }
    sentence = sentences, said = kept;
  }
}

TEST(TransformerGeneration, ASentenceHasTheSameBitsAloneAndInABatch) {
  const Transformer model(small());
  std::mt19937 random(5);
  const Tensor ids = random_ids(3, 4, random), lengths = Tensor::ids({4, 2, 3}, {3});
  SourceStepper together(model, {ids, lengths});
  const Tensor all = together.step(Tensor::ids({36, 36, 36}, {3}));
  for (std::int64_t b = 0; b < 3; ++b) {
    const std::int32_t length = lengths.data<std::int32_t>()[b];
    const Tensor own =
        Tensor::ids(ids.span<std::int32_t>().subspan(static_cast<std::size_t>(b * 4), static_cast<std::size_t>(length)),
                    {1, length});
    SourceStepper alone(model, {own, Tensor::ids({length}, {1})});
    const Tensor one = alone.step(Tensor::ids({36}, {1}));
    for (std::int64_t v = 0; v < 37; ++v) EXPECT_EQ(one.data()[v], all.data()[b * 37 + v]);
  }
}

TEST(TransformerGeneration, UsesNeitherDropoutNorGradientsInsideATrainingScope) {
  Transformer model(small());
  std::mt19937 random(9);
  const Tensor ids = random_ids(2, 4, random), lengths = Tensor::ids({4, 3}, {2}), words = random_ids(2, 3, random);
  const auto said = [&] {
    SourceStepper stepper(model, {ids, lengths});
    std::vector<float> all = stepper.step(Tensor::ids({36, 36}, {2})).to_vector();
    Probe probe;
    stepper.record_attention(words, probe);
    EXPECT_EQ(std::ssize(probe.records()), model.options.encoder_layers + 2 * model.options.decoder_layers);
    for (const auto& [layer, weights] : probe.records()) {
      EXPECT_FALSE(requires_grad(weights));
      for (const float weight : weights.to_vector()) all.push_back(weight);
    }
    return all;
  };
  const std::vector<float> expected = said();
  train_parameters(model);
  const Training training(true);
  EXPECT_EQ(said(), expected);
}

TEST(TransformerGeneration, RowsThatJoinLaterHaveTheSameBitsAsAlone) {
  const Transformer model(small());
  std::mt19937 random(11);
  const std::vector<std::vector<std::int32_t>> sources{{1, 2, 3, 4}, {5, 6}, {7, 8, 9}};
  const std::int32_t start = 36;
  const auto started = [&](std::size_t i) {
    return model.start(std::vector<GenerationInput>{{.source = sources[i], .prompt = {&start, 1}}});
  };
  std::vector<std::unique_ptr<GenerationState>> alone;
  std::unique_ptr<GenerationState> together;
  for (std::size_t step = 0; step < 8; ++step) {
    if (step % 2 == 0 && alone.size() < sources.size()) {  // another sequence joins
      StartedGeneration more = started(alone.size());
      alone.push_back(started(alone.size()).state);
      if (together)
        together->join(std::move(*more.state));
      else
        together = std::move(more.state);
    }
    std::vector<std::int32_t> ids;
    for (std::size_t i = 0; i < alone.size(); ++i) ids.push_back(static_cast<std::int32_t>(random() % 36));
    const Tensor all = model.step(Tensor::ids(ids, {std::ssize(ids)}), *together);
    for (std::size_t i = 0; i < alone.size(); ++i) {
      EXPECT_EQ(together->length(static_cast<std::int64_t>(i)) - 1, alone[i]->length(0));
      const Tensor one = model.step(Tensor::ids({ids[i]}, {1}), *alone[i]);
      for (std::int64_t v = 0; v < 37; ++v)
        ASSERT_EQ(all.data()[static_cast<std::int64_t>(i) * 37 + v], one.data()[v]) << "step " << step << ", row " << i;
    }
  }
}

}  // namespace
}  // namespace attend
