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

TEST_F(ClassificationTraining, ARowWithoutTheSecondTextIsAnErrorThatNamesTheLine) {
  std::ofstream(folder_ / "named.tsv") << "label\ttext\tsecond\ngood\ta\tb\npoor\tc\n";
  LabelledReader reader(folder_ / "named.tsv", {.text = "text", .pair = "second", .label = "label"});
  LabelledText text;
  ASSERT_TRUE(reader.next(text));
  EXPECT_EQ(text.text + text.second + text.labels.at(0), "abgood");
  EXPECT_ERROR(reader.next(text), "line 3: has too few columns, expected a text in column second");
}

}  // namespace
}  // namespace attend
