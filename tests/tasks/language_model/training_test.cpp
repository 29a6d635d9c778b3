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

class AdapterTraining : public LanguageModelTraining {
 protected:
  AdapterTraining() { train_language_model(options("base")); }
  LanguageModelTrainingOptions adapter(const std::string& output, std::int64_t steps) const {
    auto o = LanguageModelTrainingOptions::finetune(folder_ / "base");
    o.train = {folder_ / "text.txt"}, o.batch_tokens = 64, o.dropout = 0.1f;
    o.lora = {.rank = 4, .dropout = 0.1f, .targets = {"all-linear"}};
    o.trainer.learning_rate = 1e-2, o.trainer.warmup = 0, o.trainer.schedule = Schedule::Kind::constant;
    o.trainer.output = folder_ / output, o.trainer.steps = steps, o.trainer.evaluate_every = 5;
    return o;
  }
  std::string tensors(const std::string& output) const {
    return test::contents(folder_ / output / "adapter_model.safetensors");
  }
};

TEST_F(AdapterTraining, TrainsAnAdapterAndLeavesTheBaseAsItIs) {
  const std::string before = test::contents(folder_ / "base" / "model.safetensors");
  std::vector<std::string> messages;
  TrainingObserver observer;
  observer.message = [&](const std::string& line) { messages.push_back(line); };
  const TrainingResult result = train_language_model(adapter("adapter", 40), observer);
  EXPECT_LT(result.state.curve.back().loss, result.state.curve.front().loss);
  EXPECT_EQ(test::contents(folder_ / "base" / "model.safetensors"), before);
  EXPECT_FALSE(std::filesystem::exists(folder_ / "adapter" / "model.safetensors"));
  EXPECT_NE(messages.at(0).find(" parameters to train, "), std::string::npos) << messages.at(0);
  EXPECT_NE(messages.at(1).find(" of optimizer state, about "), std::string::npos) << messages.at(1);
  // The best model was saved: its loss is that of the folder.
  const std::string text = "one two three four five";
  const double base = LanguageModel(folder_ / "base").score(std::span(&text, 1)).front().logprob,
               adapted = LanguageModel(folder_ / "adapter").score(std::span(&text, 1)).front().logprob;
  EXPECT_GT(adapted, base);
  EXPECT_ERROR(train_language_model([&] {
                 auto again = LanguageModelTrainingOptions::finetune(folder_ / "adapter");
                 again.train = {folder_ / "text.txt"}, again.trainer.output = folder_ / "again";
                 return again;
               }()),
               "holds an adapter; merge it into its model first");
}

TEST_F(AdapterTraining, AResumedRunHasTheSameAdapterAsAnUnbrokenOne) {
  train_language_model(adapter("whole", 10));
  train_language_model(adapter("parts", 5));
  LanguageModelTrainingOptions o = adapter("parts", 10);
  o.trainer.resume = true;
  train_language_model(o);
  EXPECT_EQ(tensors("parts"), tensors("whole"));
  o.lora.rank = 2;
  EXPECT_ERROR(train_language_model(o), "other data or options");
}

TEST_F(AdapterTraining, RecomputationTrainsTheSameAdapter) {
  train_language_model(adapter("kept", 5));
  LanguageModelTrainingOptions o = adapter("recomputed", 5);
  o.trainer.recompute = true;
  train_language_model(o);
  EXPECT_EQ(tensors("recomputed"), tensors("kept"));
}

}  // namespace
}  // namespace attend
