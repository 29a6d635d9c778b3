#include "attend/tasks/masked_lm/training.h"

#include <gtest/gtest.h>

#include <fstream>

#include "attend/tasks/masked_lm/mask_filler.h"
#include "tests/support/errors.h"
#include "tests/support/temp_folder.h"

namespace attend {
namespace {

class MaskedLmTraining : public testing::Test {
 protected:
  MaskedLmTraining() {
    std::ofstream text(folder_ / "text.txt");
    for (int i = 0; i < 30; ++i) text << "The film was bad. The plot was worse.\nThe music was fine.\n\n";
  }
  MaskedLmTrainingOptions options(const std::string& output) const {
    MaskedLmTrainingOptions o;
    o.train = o.validation = {folder_ / "text.txt"};
    o.vocab_size = 60, o.max_tokens = 24, o.batch_tokens = 128;
    o.model.width = 16, o.model.layers = 1, o.model.heads = 2, o.model.inner = 32;
    o.trainer.output = folder_ / output, o.trainer.steps = 6;
    return o;
  }
  test::TempFolder folder_;
};

TEST_F(MaskedLmTraining, SavesAnEncoder) {
  std::vector<std::string> messages;
  TrainingObserver observer;
  observer.message = [&](const std::string& line) { messages.push_back(line); };
  const TrainingResult result = train_masked_lm(options("model"), observer);
  EXPECT_EQ(result.state.best.size(), 5u);
  ASSERT_GE(messages.size(), 2u);
  const std::string& told = messages[messages.size() - 2];
  EXPECT_TRUE(told.starts_with("30 documents, 30 examples, 30 for validation, ")) << told;
  EXPECT_NE(messages.back().find("of parameters to train"), std::string::npos) << messages.back();
  EXPECT_NO_THROW(MaskFiller(folder_ / "model"));
}

TEST_F(MaskedLmTraining, OnlyTheSameRunIsResumed) {
  train_masked_lm(options("run"));
  const auto resume = [&](auto&& change) {
    MaskedLmTrainingOptions o = options("run");
    o.trainer.resume = true;
    change(o);
    return train_masked_lm(o);
  };
  const char* kOther = "other data or options";
  EXPECT_ERROR(resume([](MaskedLmTrainingOptions& o) { o.batch_tokens = 100; }), kOther);
  EXPECT_ERROR(resume([](MaskedLmTrainingOptions& o) { o.masking.whole_words = true; }), kOther);
  EXPECT_ERROR(resume([](MaskedLmTrainingOptions& o) { o.document_end = DocumentEnd::line; }), kOther);
  EXPECT_EQ(resume([](MaskedLmTrainingOptions& o) { o.trainer.steps = 7; }).state.step, 7);
}

}  // namespace
}  // namespace attend
