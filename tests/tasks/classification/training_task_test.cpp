#include "attend/tasks/classification/training_task.h"

#include <gtest/gtest.h>

#include <cmath>

#include "tests/support/gradcheck.h"
#include "tests/support/temp_folder.h"

namespace attend {
namespace {

/// A task with two training texts, which have the labels 0 and 1.
ClassifierTrainingTask task_of(std::function<Tensor(const TokenBatch&)> logits,
                               const ClassifierTrainingTaskOptions& options) {
  const test::TempFolder folder;
  const ExampleStore texts = stored_examples({folder / "texts", 2, 10}, [](const AddExample& add) {
    add({{{5, 6}, {0}}}), add({{{7, 8}, {1}}});
  });
  return {{.parameters = {},
           .logits = [logits](const TokenBatch& texts, const Tensor&) { return logits(texts); },
           .save = {}},
          2,
          texts,
          {},
          options};
}

TEST(ClassifierTraining, ConsistencyEncodesEachTextTwiceWithDifferentWordDropout) {
  TokenBatch seen;
  ClassifierTrainingTask task = task_of(
      [&](const TokenBatch& texts) {
        seen = texts;
        return Tensor::zeros({texts.ids.dim(0), 2});
      },
      {.unknown = 1, .word_dropout = 0.5f, .consistency = 1.f, .batches = {.shuffle = false}});
  std::int64_t differ = 0;
  for (int update = 0; update < 50; ++update) {
    const TrainingTask::Loss loss = task.next();
    EXPECT_EQ(loss.targets, 4);
    EXPECT_NEAR(loss.sum.item(), 4 * std::log(2.f), 1e-5f);  // both predictions are equal, so the divergence is 0
    ASSERT_EQ(seen.ids.shape(), (Shape{4, 2}));
    const std::int32_t* ids = seen.ids.data<std::int32_t>();
    for (std::int64_t i = 0; i < 4; ++i) {
      const std::int32_t word = static_cast<std::int32_t>(5 + i);
      EXPECT_TRUE(ids[i] == word || ids[i] == 1);
      EXPECT_TRUE(ids[4 + i] == word || ids[4 + i] == 1);
      differ += ids[i] != ids[4 + i];
    }
  }
  EXPECT_NEAR(static_cast<double>(differ), 100, 30);
}

TEST(ClassifierTraining, ConsistencyIsTheMeanOfBothDivergences) {
  const std::vector<float> values = {0.3f, -1.f, 2.f, 0.5f, -0.7f, 0.1f, 0.f, 1.5f};  // texts 0, 1, 0, 1
  for (const bool several : {false, true}) {
    const auto loss_with = [&](const Tensor& logits, float consistency) {
      return task_of([&](const TokenBatch&) { return logits; },
                     {.consistency = consistency, .several_labels = several, .batches = {.shuffle = false}})
          .next()
          .sum;
    };
    // The divergences by their definition; for multi-label classification a sum over the labels.
    double divergence = 0;
    const auto add = [&](std::vector<double> p, std::vector<double> q) {
      for (std::size_t i = 0; i < p.size(); ++i)
        divergence += 0.5 * (p[i] * std::log(p[i] / q[i]) + q[i] * std::log(q[i] / p[i]));
    };
    for (std::size_t text = 0; text < 2; ++text) {
      const auto probabilities = [&](std::size_t row, std::size_t label) {
        const double z = several ? values[2 * row + label] : values[2 * row] - values[2 * row + 1];
        const double p = 1 / (1 + std::exp(-z));
        return std::vector<double>{p, 1 - p};
      };
      for (std::size_t label = 0; label < (several ? 2u : 1u); ++label)
        add(probabilities(text, label), probabilities(2 + text, label));
    }
    const Tensor logits = Tensor::from(values, {4, 2});
    // The loss is a sum over both encodings of each text.
    EXPECT_NEAR(loss_with(logits, 0.7f).item() - loss_with(logits, 1e-9f).item(), 2 * 0.7 * divergence, 1e-5);
    test::expect_gradients([&](const test::Tensors& x) { return loss_with(x[0], 0.7f); }, {logits});
  }
}

}  // namespace
}  // namespace attend
