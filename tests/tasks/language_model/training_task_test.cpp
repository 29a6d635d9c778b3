#include "attend/tasks/language_model/training_task.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "attend/ops/tape.h"
#include "tests/support/errors.h"
#include "tests/support/temp_folder.h"

namespace attend {
namespace {

/// The ids 0 to count - 1, one document.
TokenStore counting(const test::TempFolder& folder, std::int64_t count) {
  TokenStoreWriter writer(folder / "counting", count);
  for (std::int32_t id = 0; id < count; ++id) writer.add(std::span(&id, 1));
  writer.commit();
  return TokenStore(folder / "counting");
}

/// A model that gives all tokens the same probability and records its inputs.
struct RecordingModel {
  std::int64_t vocabulary;
  std::vector<std::int32_t> inputs = {};

  TrainableLanguageModel task() {
    return {{},
            [this](const Tensor& ids) {
              const std::span<std::int32_t> all = ids.span<std::int32_t>();
              inputs.insert(inputs.end(), all.begin(), all.end());
              return Tensor::zeros({ids.dim(0), ids.dim(1), vocabulary});
            },
            [](const std::filesystem::path&) {}};
  }
};

TEST(LanguageModelTrainingTask, TrainsOnWindowsOfTheTrainingTextOnly) {
  const test::TempFolder folder;
  RecordingModel model{100};
  const auto [training, held_back] = hold_back(counting(folder, 100), 0.25);
  EXPECT_EQ(training.range, (TokenRange{0, 75}));
  EXPECT_EQ(held_back.range, (TokenRange{75, 100}));
  LanguageModelTrainingTask task(model.task(), training, held_back, {.batch = 3, .context = 5, .seed = 4});
  EXPECT_EQ(task.batches_per_epoch(), 5);
  for (int step = 0; step < 200; ++step) {
    const TrainingTask::Loss loss = task.next();
    EXPECT_EQ(loss.targets, 15);
    EXPECT_NEAR(loss.sum.item(), 15 * std::log(100.0), 1e-3);
  }
  EXPECT_EQ(*std::ranges::min_element(model.inputs), 0);
  EXPECT_EQ(*std::ranges::max_element(model.inputs), 73);  // 74 is a target only
  for (std::size_t i = 0; i < model.inputs.size(); ++i) {
    if (i % 5 == 0) continue;
    EXPECT_EQ(model.inputs[i], model.inputs[i - 1] + 1);
  }
  EXPECT_EQ(task.position(), (BatchPosition{4, 40, 0}));
}

TEST(LanguageModelTrainingTask, ContinuesFromARestoredPosition) {
  const test::TempFolder folder;
  const TokenStore store = counting(folder, 60);
  RecordingModel whole{60}, resumed{60};
  LanguageModelTrainingTask one(whole.task(), {store, {0, 60}}, {}, {.batch = 2, .context = 4, .seed = 9});
  LanguageModelTrainingTask other(resumed.task(), {store, {0, 60}}, {}, {.batch = 2, .context = 4, .seed = 9});
  for (int step = 0; step < 10; ++step) one.next();
  other.restore(one.position());
  whole.inputs.clear();
  for (int step = 0; step < 10; ++step) one.next(), other.next();
  EXPECT_EQ(whole.inputs, resumed.inputs);
  EXPECT_EQ(one.position(), other.position());
  EXPECT_THROW(other.restore({9, 0, 7}), InputError);
}

TEST(LanguageModelTrainingTask, EvaluatesEveryTokenOnce) {
  const test::TempFolder folder;
  const TokenStore store = counting(folder, 50);
  RecordingModel model{50};
  LanguageModelTrainingTask task(model.task(), {store, {0, 20}}, StoredText{store, {20, 50}},
                                 {.batch = 2, .context = 7});
  const NoGrad no_grad;
  const Scores scores = task.evaluate();
  ASSERT_EQ(scores.size(), 2u);
  EXPECT_EQ(scores[0].first, "loss");
  EXPECT_NEAR(scores[0].second, std::log(50.0), 1e-5);
  EXPECT_NEAR(scores[1].second, 50, 1e-2);
  std::vector<std::int32_t> expected;
  for (std::int32_t id = 20; id < 49; ++id) expected.push_back(id);
  std::erase(model.inputs, 0);  // padding
  EXPECT_EQ(model.inputs, expected);
  model.inputs.clear();
  LanguageModelTrainingTask few(model.task(), {store, {0, 20}}, StoredText{store, {20, 50}},
                                {.batch = 2, .context = 7, .validation_tokens = 7});
  few.evaluate();
  EXPECT_EQ(model.inputs.size(), 7u);
  LanguageModelTrainingTask none(model.task(), {store, {0, 20}}, {}, {.batch = 2, .context = 7});
  EXPECT_TRUE(none.evaluate().empty());
}

TEST(LanguageModelTrainingTask, ATextThatIsShorterThanAWindowIsAnError) {
  const test::TempFolder folder;
  RecordingModel model{10};
  EXPECT_ERROR(LanguageModelTrainingTask(model.task(), {counting(folder, 10), {0, 5}}, {}, {.context = 5}),
               "the text is too short: got 5 tokens to learn from, expected more than a window of 5");
  EXPECT_ERROR(hold_back(counting(folder, 10), 1.0), "below 1");
}

}  // namespace
}  // namespace attend
