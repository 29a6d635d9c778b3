#include "attend/tasks/translation/training.h"

#include <gtest/gtest.h>

#include <fstream>

#include "attend/data/phrase_book.h"
#include "tests/support/errors.h"
#include "tests/support/temp_folder.h"

namespace attend {
namespace {

class TranslationTraining : public testing::Test {
 protected:
  TranslationTraining() {
    std::ofstream pairs(folder_ / "pairs.tsv"), held_out(folder_ / "held-out.tsv");
    const PhraseBook book = phrase_book({.pairs = 300, .held_out = 20});
    for (const auto& [source, target] : book.training) pairs << source << '\t' << target << '\n';
    pairs << "\tnothing\n";
    for (const auto& [source, target] : book.held_out) held_out << source << '\t' << target << '\n';
  }
  TranslationTrainingOptions options(const std::string& output) const {
    TranslationTrainingOptions o;
    o.train.pairs = folder_ / "pairs.tsv", o.validation.pairs = folder_ / "held-out.tsv";
    o.vocab_size = 200, o.batch_tokens = 500, o.validation_sentences = 5;
    TransformerOptions& t = o.model.transformer;
    t.width = 16, t.encoder_layers = t.decoder_layers = 1, t.encoder_heads = t.decoder_heads = 2;
    t.encoder_inner = t.decoder_inner = 32;
    o.trainer.output = folder_ / output, o.trainer.steps = 12, o.trainer.evaluate_every = 6;
    return o;
  }
  std::string model(const std::string& output) const { return test::contents(folder_ / output / "model.safetensors"); }

  test::TempFolder folder_;
};

TEST_F(TranslationTraining, SavesATranslator) {
  std::vector<std::string> messages, warnings;
  std::int64_t updates = 0, evaluations = 0, tokenized = 0;
  TrainingObserver observer;
  observer.stepped = [&](const TrainingState&) { ++updates; };
  observer.evaluated = [&](const TrainingState&) { ++evaluations; };
  observer.message = [&](const std::string& line) { messages.push_back(line); };
  observer.warning = [&](const std::string& line) { warnings.push_back(line); };
  observer.prepared = [&](const std::string& stage, const std::string&, std::int64_t, std::int64_t) {
    tokenized += stage == "Tokenizing";
  };
  const TrainingResult result = train_translation(options("model"), observer);
  EXPECT_EQ(result.state.step, 12);
  EXPECT_EQ(updates, 12);
  EXPECT_EQ(evaluations, 2);
  EXPECT_GE(tokenized, 320);
  ASSERT_EQ(result.state.best.size(), 3u);
  EXPECT_EQ(result.state.best[1].first, "bleu");
  ASSERT_EQ(warnings.size(), 1u);
  EXPECT_EQ(warnings[0], "left out: 1 pair that are empty, or longer than 100 tokens (--max-length)");
  ASSERT_EQ(messages.size(), 3u);
  EXPECT_TRUE(messages[1].starts_with("300 pairs, 20 for validation, ")) << messages[1];
  const Translator translator(folder_ / "model");
  EXPECT_EQ(translator(std::vector<std::string>{"ciao"}, {{.max_new_tokens = 3}}).size(), 1u);
}

struct Stop {};

TEST_F(TranslationTraining, AStoppedRunResumesToTheSameModel) {
  train_translation(options("whole"));
  TranslationTrainingOptions parts = options("parts");
  EXPECT_THROW(train_translation(parts, {.stepped =
                                             [](const TrainingState& state) {
                                               if (state.step == 7) throw Stop();
                                             }}),
               Stop);
  parts.trainer.resume = true;
  train_translation(parts);
  EXPECT_EQ(model("parts"), model("whole"));
  // The tokenised pairs are made again if they were deleted.
  for (const char* name : {"train.tokens", "validation.tokens", "checkpoint.safetensors"})
    std::filesystem::remove(folder_ / "parts" / name);
  train_translation(parts);
  EXPECT_EQ(model("parts"), model("whole"));
}

TEST_F(TranslationTraining, ARunWithOtherOptionsOrDataIsNotResumed) {
  train_translation(options("run"));
  const auto resume = [&](auto&& change) {
    TranslationTrainingOptions o = options("run");
    o.trainer.resume = true;
    change(o);
    return train_translation(o);
  };
  const char* kOther = "other data or options";
  EXPECT_ERROR(resume([](TranslationTrainingOptions& o) { o.batch_tokens = 400; }), kOther);
  EXPECT_ERROR(resume([](TranslationTrainingOptions& o) { o.max_length = 50; }), kOther);
  EXPECT_ERROR(resume([](TranslationTrainingOptions& o) { o.trainer.accumulate = 2; }), kOther);
  EXPECT_ERROR(resume([](TranslationTrainingOptions& o) { o.model.transformer.dropout = 0.2f; }), kOther);
  EXPECT_ERROR(resume([&](TranslationTrainingOptions& o) { o.validation.pairs = folder_ / "pairs.tsv"; }), kOther);
  EXPECT_EQ(resume([](TranslationTrainingOptions& o) { o.trainer.steps = 14; }).state.step, 14);
}

TEST_F(TranslationTraining, FineTuningStartsFromAFolder) {
  train_translation(options("start"));
  auto o = TranslationTrainingOptions::finetune(folder_ / "start");
  o.train.pairs = folder_ / "pairs.tsv", o.trainer.output = folder_ / "tuned", o.trainer.steps = 2;
  EXPECT_EQ(train_translation(o).state.step, 2);
  EXPECT_NE(model("tuned"), model("start"));
  EXPECT_EQ(test::contents(folder_ / "tuned/vocab.json"), test::contents(folder_ / "start/vocab.json"));
}

TEST_F(TranslationTraining, MissingDataAreErrors) {
  TranslationTrainingOptions o = options("x");
  o.train = {};
  EXPECT_ERROR(train_translation(o), "no pairs to learn from");
  o = options("x"), o.validation = {}, o.trainer.metric = "chrf";
  EXPECT_ERROR(train_translation(o), "there is nothing to translate for chrf");
  o = options("x"), o.max_length = 1;
  EXPECT_ERROR(train_translation(o), "0 sequences");
}

TEST_F(TranslationTraining, TheFolderRecordsTheBeamAndWhetherItWasTrainedOnSentences) {
  train_translation(options("sentences"));
  const Translator sentences(folder_ / "sentences");
  EXPECT_EQ(sentences.generation().search.beam, 4);
  EXPECT_EQ(sentences.sentences(), SentenceMode::split);
  TranslationTrainingOptions o = options("texts");
  o.model.architecture = TranslatorArchitecture::recurrent;
  o.model.recurrent.embedding = o.model.recurrent.hidden = 8;
  std::ofstream pairs(folder_ / "texts.tsv");
  for (int i = 0; i < 200; ++i)
    pairs << "Il gatto dorme. La ragazza legge " << i << " libri.\tThe cat sleeps. The girl reads " << i << " books.\n";
  pairs.close();
  o.train.pairs = folder_ / "texts.tsv";
  train_translation(o);
  const Translator texts(folder_ / "texts");
  EXPECT_EQ(texts.generation().search.beam, 4) << "recurrent translators too";
  EXPECT_EQ(texts.sentences(), SentenceMode::whole);
  auto more = TranslationTrainingOptions::finetune(folder_ / "texts");
  more.train.pairs = folder_ / "pairs.tsv", more.trainer.output = folder_ / "tuned", more.trainer.steps = 2;
  train_translation(more);
  EXPECT_EQ(Translator(folder_ / "tuned").sentences(), SentenceMode::split) << "as the new data is";
}

}  // namespace
}  // namespace attend
