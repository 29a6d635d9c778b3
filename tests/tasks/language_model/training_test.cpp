#include "attend/tasks/language_model/training.h"

#include <gtest/gtest.h>

#include <fstream>

#include "attend/tasks/language_model/language_model.h"
#include "tests/support/errors.h"
#include "tests/support/temp_folder.h"

namespace attend {
namespace {

class LanguageModelTraining : public testing::Test {
 protected:
  LanguageModelTraining() {
    std::ofstream text(folder_ / "text.txt");
    for (int i = 0; i < 50; ++i) text << "one two three four five six seven eight\n";
  }
  LanguageModelTrainingOptions options(const std::string& output) const {
    LanguageModelTrainingOptions o;
    o.train = {folder_ / "text.txt"};
    o.tokens = LearnedTokens::characters, o.context = 8, o.batch_tokens = 64;
    o.model.width = 16, o.model.layers = 1, o.model.heads = 2;
    o.trainer.output = folder_ / output, o.trainer.steps = 10, o.trainer.evaluate_every = 5;
    return o;
  }
  test::TempFolder folder_;
};

TEST_F(LanguageModelTraining, SavesALanguageModelAndShowsSamples) {
  LanguageModelTrainingOptions o = options("model");
  o.sample_prompt = "one", o.sample_tokens = 5;
  std::vector<std::string> samples;
  TrainingObserver observer;
  observer.sampled = [&](const std::string& text) { samples.push_back(text); };
  const TrainingResult result = train_language_model(o, observer);
  EXPECT_EQ(result.state.best.front().first, "loss");
  ASSERT_EQ(samples.size(), 2u);
  EXPECT_TRUE(samples[0].starts_with("one"));
  EXPECT_FALSE(LanguageModel(folder_ / "model")("one", {{.max_new_tokens = 3}}).text.empty());
}

TEST_F(LanguageModelTraining, OnlyTheSameRunIsResumed) {
  train_language_model(options("run"));
  const auto resume = [&](auto&& change) {
    LanguageModelTrainingOptions o = options("run");
    o.trainer.resume = true;
    change(o);
    return train_language_model(o);
  };
  const char* kOther = "other data or options";
  EXPECT_ERROR(resume([](LanguageModelTrainingOptions& o) { o.batch_tokens = 32; }), kOther);
  EXPECT_ERROR(resume([](LanguageModelTrainingOptions& o) { o.validation_share = 0.2; }), kOther);
  EXPECT_ERROR(resume([](LanguageModelTrainingOptions& o) { o.document_end = DocumentEnd::line; }), kOther);
  EXPECT_EQ(resume([](LanguageModelTrainingOptions& o) { o.trainer.steps = 11; }).state.step, 11);
}

}  // namespace
}  // namespace attend
