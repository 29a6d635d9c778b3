#include "attend/tasks/classification/training.h"

#include <gtest/gtest.h>

#include <fstream>

#include "attend/tasks/classification/classifier.h"
#include "tests/support/errors.h"
#include "tests/support/temp_folder.h"

namespace attend {
namespace {

class ClassificationTraining : public testing::Test {
 protected:
  ClassificationTraining() {
    std::ofstream texts(folder_ / "texts.tsv"), pairs(folder_ / "pairs.tsv");
    for (int i = 0; i < 40; ++i) {
      texts << "a lovely film\tgood\nan awful plot\tpoor\n";
      pairs << "a film\ta film\tsame\na film\ta plot\tother\n";
    }
  }
  ClassificationTrainingOptions options(const std::string& output) const {
    ClassificationTrainingOptions o;
    o.train = o.validation = folder_ / "texts.tsv";
    o.model.embedding = o.model.hidden = 8;
    o.trainer.output = folder_ / output, o.trainer.steps = 10;
    return o;
  }
  std::string model(const std::string& output) const { return test::contents(folder_ / output / "model.safetensors"); }

  test::TempFolder folder_;
};

TEST_F(ClassificationTraining, SavesAClassifier) {
  const TrainingResult result = train_classification(options("model"));
  EXPECT_EQ(result.state.best.front().first, "accuracy");
  EXPECT_EQ(Classifier(folder_ / "model").labels(), (std::vector<std::string>{"good", "poor"}));
}

TEST_F(ClassificationTraining, OnlyTheSameRunIsResumed) {
  train_classification(options("run"));
  const auto resume = [&](auto&& change) {
    ClassificationTrainingOptions o = options("run");
    o.trainer.resume = true;
    change(o);
    return train_classification(o);
  };
  const char* kOther = "other data or options";
  EXPECT_ERROR(resume([](ClassificationTrainingOptions& o) { o.batch = 5; }), kOther);
  EXPECT_ERROR(resume([](ClassificationTrainingOptions& o) { o.batch_tokens = 99; }), kOther);
  EXPECT_ERROR(resume([](ClassificationTrainingOptions& o) { o.columns = {.text = "2", .label = "1"}; }), kOther);
  EXPECT_ERROR(resume([](ClassificationTrainingOptions& o) { o.vocab_size = 6; }), kOther);
  EXPECT_ERROR(resume([](ClassificationTrainingOptions& o) { o.word_dropout = 0.5f; }), kOther);
  const std::string before = model("run");
  EXPECT_EQ(resume([](ClassificationTrainingOptions&) {}).state.step, 10);
  EXPECT_EQ(model("run"), before);
}

TEST_F(ClassificationTraining, FineTunesAnEncoderOnPairsOfTexts) {
  auto o = ClassificationTrainingOptions::finetune(ATTEND_SOURCE_DIR "/tests/tasks/fixtures/bert_labels");
  o.train = o.validation = folder_ / "pairs.tsv";
  o.columns.pair = "2";
  o.trainer.output = folder_ / "pairs", o.trainer.steps = 3;
  std::vector<std::string> warnings;
  TrainingObserver observer;
  observer.warning = [&](const std::string& line) { warnings.push_back(line); };
  EXPECT_EQ(train_classification(o, observer).state.step, 3);
  EXPECT_EQ(Classifier(folder_ / "pairs").labels(), (std::vector<std::string>{"other", "same"}));
  ASSERT_EQ(warnings.size(), 1u);
  EXPECT_EQ(warnings[0], "the model's head is for other labels (sport, weather, art), and starts from random weights");
  o.from = "", o.trainer.output = folder_ / "x";
  EXPECT_ERROR(train_classification(o), "need an encoder");
  o.balanced = true, o.columns.separator = "|";
  EXPECT_ERROR(train_classification(o), "one label each");
}

TEST_F(ClassificationTraining, ARecurrentClassifierIsTrainedFurther) {
  train_classification(options("first"));
  auto o = ClassificationTrainingOptions::finetune(folder_ / "first");
  o.train = o.validation = folder_ / "texts.tsv";
  o.trainer.output = folder_ / "second", o.trainer.steps = 1, o.trainer.learning_rate = 1e-12;
  std::vector<std::string> warnings;
  TrainingObserver observer;
  observer.warning = [&](const std::string& line) { warnings.push_back(line); };
  train_classification(o, observer);
  EXPECT_TRUE(warnings.empty()) << warnings[0];
  const std::vector<std::string> texts{"a lovely film", "an awful plot", "film"};
  const auto before = Classifier(folder_ / "first")(texts), after = Classifier(folder_ / "second")(texts);
  for (std::size_t i = 0; i < texts.size(); ++i)
    EXPECT_NEAR(before[i].probabilities[0], after[i].probabilities[0], 1e-5) << "the head is kept";

  std::ofstream(folder_ / "other.tsv") << "a lovely film\tfunny\nan awful plot\tsad\na film\tother\n";
  o.train = folder_ / "other.tsv", o.validation = "", o.trainer.output = folder_ / "third";
  train_classification(o, observer);
  ASSERT_EQ(warnings.size(), 1u);
  EXPECT_EQ(warnings[0], "the model's head is for other labels (good, poor), and starts from random weights");
  EXPECT_EQ(Classifier(folder_ / "third").labels(), (std::vector<std::string>{"funny", "other", "sad"}));
  o.frozen_layers = 1, o.trainer.output = folder_ / "fourth";
  EXPECT_ERROR(train_classification(o), "is not of BERT's family");
}

TEST_F(ClassificationTraining, AGpt2ClassifierIsTrainedFurther) {
  const std::filesystem::path from = ATTEND_SOURCE_DIR "/tests/models/fixtures/gpt2_labels";
  std::ofstream(folder_ / "labels.tsv") << "a good film\tgood\na bad plot\tbad\nfilm\tneither\n";
  auto o = ClassificationTrainingOptions::finetune(from);
  o.train = o.validation = folder_ / "labels.tsv";
  o.trainer.output = folder_ / "same", o.trainer.steps = 1, o.trainer.learning_rate = 1e-12, o.dropout = 0.f;
  train_classification(o);
  const std::vector<std::string> texts{"a good film", "bad"};
  const auto before = Classifier(from)(texts), after = Classifier(folder_ / "same")(texts);
  for (std::size_t i = 0; i < texts.size(); ++i)
    EXPECT_NEAR(before[i].probabilities[0], after[i].probabilities[0], 1e-5);

  o.trainer = {.epochs = 60, .learning_rate = 1e-2};
  o.trainer.output = folder_ / "learned";
  const TrainingResult result = train_classification(o);
  EXPECT_EQ(result.state.best.front().first, "accuracy");
  EXPECT_EQ(result.state.best.front().second, 1) << "three texts are learned by heart";
  EXPECT_ERROR(train_classification([&] {
                 auto other = o;
                 other.from = ATTEND_SOURCE_DIR "/tests/models/fixtures/gpt2_tokenizer";
                 other.trainer.output = folder_ / "never";
                 return other;
               }()),
               "classifier");
}

TEST_F(ClassificationTraining, ARowWithoutTheSecondTextIsAnErrorThatNamesTheLine) {
  std::ofstream(folder_ / "named.tsv") << "label\ttext\tsecond\ngood\ta\tb\npoor\tc\n";
  LabelledReader reader(folder_ / "named.tsv", {.text = "text", .pair = "second", .label = "label"});
  LabelledText text;
  ASSERT_TRUE(reader.next(text));
  EXPECT_EQ(text.text + text.second + text.labels.at(0), "abgood");
  EXPECT_ERROR(reader.next(text), "line 3: has only 2 columns, expected a text in column second");
}

}  // namespace
}  // namespace attend
