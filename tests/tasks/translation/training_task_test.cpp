#include "attend/tasks/translation/training_task.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <random>

#include "attend/core/random.h"
#include "attend/models/transformer.h"
#include "attend/ops/arithmetic.h"
#include "attend/ops/tape.h"
#include "attend/train/optimizer.h"
#include "tests/support/temp_folder.h"

namespace attend {
namespace {

using Ids = std::vector<std::int32_t>;
constexpr std::int32_t kVocabulary = 8, kStart = 0, kEnd = 1;
constexpr std::int64_t kWidth = 16;

/// A frame for each token: +1 at two places that tell the token, and a little noise, as a recording would have.
Tensor frames_of(const Ids& tokens, std::mt19937& random) {
  Tensor frames = Tensor::empty({std::ssize(tokens), kWidth});
  for (float& value : frames.span()) value = static_cast<float>(random() % 1000) * 1e-4f - 0.05f;
  for (std::size_t t = 0; t < tokens.size(); ++t)
    for (const std::int32_t place : {tokens[t], tokens[t] + 8})
      frames.data()[static_cast<std::int64_t>(t) * kWidth + place] += 1.f;
  return frames;
}

/// 2 to 4 tokens out of 2 … 7.
Ids random_tokens(std::mt19937& random) {
  Ids tokens(2 + random() % 3);
  for (std::int32_t& token : tokens) token = static_cast<std::int32_t>(2 + random() % 6);
  return tokens;
}

TEST(TranslationTrainingTask, LearnsFromFeaturesAndGeneratesFromThem) {
  const test::TempFolder folder;
  std::mt19937 random(3);
  Generator generator(3);
  const ExampleStore examples =
      stored_examples({folder / "examples", kPairFields, kVocabulary, {}, kWidth}, [&](const AddExample& add) {
        for (int i = 0; i < 400; ++i) {
          Ids tokens = random_tokens(random);
          const Tensor frames = frames_of(tokens, random);
          tokens.push_back(kEnd);
          add({{{}, tokens}, false, frames});
        }
      });

  const auto model = std::make_shared<Transformer>(TransformerOptions{.source_vocabulary = kVocabulary,
                                                                      .target_vocabulary = kVocabulary,
                                                                      .width = kWidth,
                                                                      .encoder_layers = 1,
                                                                      .decoder_layers = 1,
                                                                      .encoder_heads = 2,
                                                                      .decoder_heads = 2,
                                                                      .encoder_inner = 32,
                                                                      .decoder_inner = 32,
                                                                      .dropout = 0.f,
                                                                      .start = kStart,
                                                                      .end = kEnd},
                                                   generator);
  TrainableTranslator trainable;
  trainable.start = kStart;
  train_parameters(*model);
  trainable.parameters = parameters(*model);
  trainable.predict = [model](const TokenBatch& sources, const TokenBatch& inputs) {
    return model->predict(sources.ids, sources.lengths, inputs.ids);
  };
  TranslationTrainingTask task(trainable, examples, {},
                               {.label_smoothing = 0.f, .batches = {.max_tokens = 160, .seed = 1}});
  AdamW optimizer(trainable.parameters, {.learning_rate = 5e-3f});
  for (int update = 0; update < 400; ++update) {
    const TrainingTask::Loss loss = task.next();
    EXPECT_GT(loss.targets, 0);
    backward(loss.sum * (1.f / static_cast<float>(loss.targets)));
    optimizer.step();
    optimizer.zero_grad();
  }

  // Frames that were not trained on, two sequences of different lengths in one batch.
  const NoGrad no_grad;
  const std::vector<Ids> spoken = {{3, 7, 2, 4}, {5, 6}};
  const Ids prompt = {kStart};
  std::vector<GenerationInput> inputs;
  for (const Ids& tokens : spoken) inputs.push_back({.prompt = prompt, .features = frames_of(tokens, random)});
  auto [state, logits, reused] = model->start(inputs);
  std::vector<Ids> generated(2);
  for (int step = 0; step < 5; ++step) {
    Ids best;
    for (std::int64_t row = 0; row < 2; ++row) {
      const float* first = logits.data() + row * kVocabulary;
      best.push_back(static_cast<std::int32_t>(std::max_element(first, first + kVocabulary) - first));
      Ids& tokens = generated[static_cast<std::size_t>(row)];
      if (tokens.empty() || tokens.back() != kEnd) tokens.push_back(best.back());
    }
    logits = model->step(Tensor::ids(best, {2}), *state);
  }
  for (std::size_t row = 0; row < 2; ++row) {
    Ids expected = spoken[row];
    expected.push_back(kEnd);
    EXPECT_EQ(generated[row], expected) << "row " << row;
  }
}

}  // namespace
}  // namespace attend
