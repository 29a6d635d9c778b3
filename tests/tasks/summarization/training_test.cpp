#include "attend/tasks/summarization/training.h"

#include <gtest/gtest.h>

#include <fstream>
#include <random>
#include <set>

#include "attend/formats/safetensors.h"
#include "attend/models/registry.h"
#include "attend/tasks/summarization/summarizer.h"
#include "tests/support/errors.h"
#include "tests/support/temp_folder.h"

namespace attend {
namespace {

const std::vector<std::string> kNames = {"Anna", "Boris", "Carla", "David", "Emma", "Fritz", "Greta", "Hugo"};
const std::vector<std::string> kThings = {"garden", "bridge", "castle", "market", "forest", "river"};

/// A note about a person and a thing, and its heading: both words must be copied.
std::pair<std::string, std::string> note(int i) {
  std::mt19937 random(static_cast<unsigned>(i));
  const std::string &name = kNames[random() % kNames.size()], &thing = kThings[random() % kThings.size()];
  return {
      "Good morning. Yesterday " + name + " went to the old " + thing + ". It was cold. " + name + " came home late.",
      name + ": " + thing};
}

class SummaryTraining : public testing::Test {
 protected:
  SummaryTraining() {
    std::ofstream train(folder_ / "train.tsv"), held_out(folder_ / "held-out.tsv");
    for (int i = 0; i < 200; ++i) train << note(i).first << '\t' << note(i).second << '\n';
    train << "A text without a summary.\t\n\tA summary without a text\n";
    for (int i = 200; i < 212; ++i) held_out << note(i).first << '\t' << note(i).second << '\n';
  }
  SummaryTrainingOptions options(const std::string& output) const {
    SummaryTrainingOptions o;
    o.train = folder_ / "train.tsv", o.validation = folder_ / "held-out.tsv";
    o.vocab_size = 90, o.batch_tokens = 600, o.validation_summaries = 6, o.max_source_tokens = 64, o.max_tokens = 16;
    TransformerOptions& t = o.model;
    t.width = 16, t.encoder_layers = t.decoder_layers = 1, t.encoder_heads = t.decoder_heads = 2;
    t.encoder_inner = t.decoder_inner = 32;
    o.trainer.output = folder_ / output, o.trainer.steps = 12, o.trainer.evaluate_every = 6;
    return o;
  }
  std::string model(const std::string& output) const { return test::contents(folder_ / output / "model.safetensors"); }

  test::TempFolder folder_;
};

struct Told {
  std::vector<std::string> messages, warnings;
  TrainingObserver observer() {
    TrainingObserver told;
    told.message = [this](const std::string& line) { messages.push_back(line); };
    told.warning = [this](const std::string& line) { warnings.push_back(line); };
    return told;
  }
};

TEST_F(SummaryTraining, SavesASummarizerThatReadsAsItWasTrained) {
  Told told;
  SummaryTrainingOptions o = options("model");
  o.max_source_tokens = 20;
  const TrainingResult result = train_summarizer(o, told.observer());
  EXPECT_EQ(result.state.step, 12);
  ASSERT_EQ(result.state.best.size(), 4u);
  EXPECT_EQ(result.state.best[0].first, "loss");
  EXPECT_EQ(result.state.best[1].first, "rougeL");
  ASSERT_EQ(told.warnings.size(), 2u);
  EXPECT_EQ(told.warnings[0], "cut: 212 texts longer than 20 tokens (--max-source-tokens)");
  EXPECT_EQ(told.warnings[1],
            "left out: 2 pairs with an empty text or summary, or a summary longer than 16 tokens (--max-tokens)");
  ASSERT_EQ(told.messages.size(), 3u);
  EXPECT_TRUE(told.messages[1].starts_with("200 pairs, 12 for validation, ")) << told.messages[1];

  EXPECT_TRUE(Config(folder_ / "model/config.json").flag("pointer"));
  const Summarizer summarizer(folder_ / "model");
  const Summary summary = summarizer(note(300).first, {.sources = true});
  EXPECT_EQ(summary.parts, 1) << "a longer text is cut, as in training";
  EXPECT_GT(summary.truncated, 0);
  EXPECT_LE(summary.ids.size(), 16u);
  EXPECT_EQ(summarizer("").text, "");
  EXPECT_GT(summarizer(note(300).first, {.long_text = LongText::split}).parts, 1);
}

TEST_F(SummaryTraining, LearnsToCopyWordsThatItHasNeverGenerated) {
  SummaryTrainingOptions o = options("model");
  o.model.width = 32, o.model.encoder_layers = o.model.decoder_layers = 2, o.model.encoder_inner = 64;
  o.model.dropout = 0, o.trainer.steps = 300, o.trainer.evaluate_every = 300, o.trainer.learning_rate = 4e-3;
  o.trainer.warmup = 30;
  o.validation_summaries = 12;
  const TrainingResult result = train_summarizer(o);
  EXPECT_GT(score_named(result.state.best, "rouge1"), 85);
  const Summarizer summarizer(folder_ / "model");
  const Summary summary = summarizer(note(205).first, {.sources = true});
  EXPECT_EQ(summary.text, note(205).second);
  float of_names = 0;  // the sentences with the words that were copied
  ASSERT_EQ(summary.sentences.size(), 4u);
  of_names = summary.sentences[1].weight + summary.sentences[3].weight;
  EXPECT_GT(of_names, 0.5f);
}

TEST_F(SummaryTraining, SummariesInLowerCaseGetTheCaseOfTheText) {
  SummaryTrainingOptions o = options("model");
  o.lowercase = true, o.vocab_size = 70, o.candidates = 5;
  o.model.width = 32, o.model.recurrent_layers = 1, o.model.encoder_layers = 0, o.model.decoder_layers = 2;
  o.model.dropout = 0, o.trainer.steps = 300, o.trainer.evaluate_every = 300, o.trainer.learning_rate = 4e-3;
  o.trainer.warmup = 30, o.validation_summaries = 12;
  EXPECT_GT(score_named(train_summarizer(o).state.best, "rouge1"), 85);
  const Config config(folder_ / "model/config.json");
  EXPECT_TRUE(config.flag("source_case"));
  EXPECT_EQ(SummaryParameters::read(config).candidates, 5);
  EXPECT_EQ(config.integer("encoder_recurrent_layers"), 1);
  const Summarizer summarizer(folder_ / "model");
  EXPECT_EQ(summarizer(note(205).first).text, note(205).second);
  EXPECT_NE(summarizer("anna went home.").ids, summarizer("Anna went home.").ids) << "the model sees the case";

  SummaryTrainingOptions more = SummaryTrainingOptions::finetune(folder_ / "model");
  more.train = o.train, more.validation = o.validation, more.trainer.output = folder_ / "more", more.trainer.steps = 2;
  train_summarizer(more);
  EXPECT_TRUE(Config(folder_ / "more/config.json").flag("source_case"));
}

struct StopHere {};

TEST_F(SummaryTraining, AStoppedRunResumesToTheSameModel) {
  const auto with = [&](const std::string& output) {
    SummaryTrainingOptions o = options(output);
    o.gap_sentence_epochs = 1, o.coverage = 0.5f, o.trainer.steps = 60, o.trainer.average = 0.9;
    o.trainer.evaluate_every = 20;
    return o;
  };
  const TrainingResult whole = train_summarizer(with("whole"));
  ASSERT_GT(whole.state.epoch, 1);
  for (const std::int64_t stop : {7, 45}) {  // in the epoch of gap sentences, and after it
    const std::string name = "parts" + std::to_string(stop);
    SummaryTrainingOptions parts = with(name);
    EXPECT_THROW(train_summarizer(parts, {.stepped =
                                              [&](const TrainingState& state) {
                                                if (state.step == stop) throw StopHere();
                                              }}),
                 StopHere);
    parts.trainer.resume = true;
    train_summarizer(parts);
    EXPECT_EQ(model(name), model("whole"));
  }
}

TEST_F(SummaryTraining, GapSentencesChangeOnlyTheFirstEpochs) {
  SummaryTrainingOptions with = options("with"), without = options("without");
  with.gap_sentence_epochs = 1, with.trainer.steps = without.trainer.steps = 2;
  train_summarizer(with), train_summarizer(without);
  EXPECT_NE(model("with"), model("without"));
  with = options("none"), with.trainer.steps = 0, with.trainer.epochs = 2, with.gap_sentence_epochs = 2;
  EXPECT_ERROR(train_summarizer(with), "no epoch is left to learn from summaries");
}

TEST_F(SummaryTraining, ARunWithOtherOptionsOrDataIsNotResumed) {
  train_summarizer(options("run"));
  const auto resume = [&](auto&& change) {
    SummaryTrainingOptions o = options("run");
    o.trainer.resume = true;
    change(o);
    return train_summarizer(o);
  };
  const char* kOther = "other data or options";
  EXPECT_ERROR(resume([](SummaryTrainingOptions& o) { o.max_source_tokens = 50; }), kOther);
  EXPECT_ERROR(resume([](SummaryTrainingOptions& o) { o.max_tokens = 15; }), kOther);
  EXPECT_ERROR(resume([](SummaryTrainingOptions& o) { o.coverage = 1; }), kOther);
  EXPECT_ERROR(resume([](SummaryTrainingOptions& o) { o.model.pointer = false; }), kOther);
  EXPECT_ERROR(resume([&](SummaryTrainingOptions& o) { o.validation = folder_ / "train.tsv"; }), kOther);
  EXPECT_EQ(resume([](SummaryTrainingOptions& o) { o.trainer.steps = 14; }).state.step, 14);
}

TEST_F(SummaryTraining, WithoutAPointerTheModelIsAMarianFolder) {
  SummaryTrainingOptions o = options("model");
  o.model.pointer = false, o.trainer.steps = 2;
  train_summarizer(o);
  EXPECT_EQ(Config(folder_ / "model/config.json").text("model_type"), "marian");
  EXPECT_EQ(Summarizer(folder_ / "model")(note(1).first).parts, 1);
  o = options("coverage"), o.model.pointer = false, o.coverage = 1;
  EXPECT_ERROR(train_summarizer(o), "the coverage loss is of the weights of a pointer");
}

TEST_F(SummaryTraining, FineTuningStartsFromAFolderOfOurs) {
  SummaryTrainingOptions start = options("start");
  train_summarizer(start);
  auto o = SummaryTrainingOptions::finetune(folder_ / "start");
  o.train = folder_ / "train.tsv", o.trainer.output = folder_ / "tuned", o.trainer.steps = 2, o.coverage = 1;
  EXPECT_EQ(train_summarizer(o).state.step, 2);
  EXPECT_NE(model("tuned"), model("start"));
  EXPECT_EQ(test::contents(folder_ / "tuned/tokenizer.json"), test::contents(folder_ / "start/tokenizer.json"));
  EXPECT_TRUE(Config(folder_ / "tuned/config.json").flag("pointer"));
}

TEST_F(SummaryTraining, FineTuningOfHuggingFacesFoldersKeepsTheirPrefix) {
  for (const std::string name : {"t5_tokenizer", "pegasus_tokenizer"}) {
    auto o = SummaryTrainingOptions::finetune(ATTEND_SOURCE_DIR "/tests/models/fixtures/" + name);
    o.train = folder_ / "train.tsv", o.validation = folder_ / "held-out.tsv", o.trainer.output = folder_ / name;
    o.max_source_tokens = 12, o.max_tokens = 64, o.validation_summaries = 2, o.trainer.steps = 2;
    o.source_prefix = "shorten: ";
    EXPECT_EQ(train_summarizer(o).state.step, 2) << name;
    const Config config = Config(folder_ / name / "config.json").object("task_specific_params").object("summarization");
    EXPECT_EQ(config.text("prefix"), "shorten: ");
    const SummaryParameters parameters = SummaryParameters::read(Config(folder_ / name / "config.json"));
    EXPECT_EQ(parameters.prefix, "shorten: ");
    EXPECT_EQ(parameters.max_source_tokens, 12);
    EXPECT_EQ(parameters.long_text, LongText::truncate);
    const Summarizer summarizer(folder_ / name);
    EXPECT_EQ(summarizer(note(3).first).ids, summarizer(note(3).first, {.source_prefix = "shorten: "}).ids);
  }
}

std::set<std::string> tensors_in(const std::filesystem::path& folder) {
  const std::vector<std::string> names = SafetensorsFile(folder / "model.safetensors").names();
  return {names.begin(), names.end()};
}

TEST_F(SummaryTraining, FineTuningTeachesBartAndT5AndKeepsTheNamesOfTheirTensors) {
  for (const std::string name : {"t5_tokenizer", "bart_tokenizer"}) {
    const std::filesystem::path from = std::filesystem::path(ATTEND_SOURCE_DIR "/tests/models/fixtures") / name;
    const auto loss_after = [&](std::int64_t steps) {
      auto o = SummaryTrainingOptions::finetune(from);
      o.train = folder_ / "train.tsv", o.validation = folder_ / "held-out.tsv", o.trainer.output = folder_ / name;
      o.max_source_tokens = 60, o.max_tokens = 48, o.validation_summaries = 2, o.dropout = 0, o.batch_tokens = 400;
      o.trainer.steps = o.trainer.evaluate_every = steps, o.trainer.learning_rate = 3e-3, o.trainer.warmup = 2;
      o.trainer.overwrite = true;
      return score_named(train_summarizer(o).state.best, "loss");
    };
    const double before = loss_after(1), after = loss_after(40);
    EXPECT_LT(after, 0.7 * before) << name;
    EXPECT_EQ(tensors_in(folder_ / name), tensors_in(from)) << name;
    EXPECT_EQ(Config(folder_ / name / "config.json").texts("architectures"),
              Config(from / "config.json").texts("architectures"));
    const Summary summary = Summarizer(folder_ / name)(note(3).first);
    EXPECT_EQ(summary.parts, 1) << name;
    EXPECT_FALSE(summary.text.empty()) << name;
  }
}

TEST_F(SummaryTraining, Int8WeightsAreRefusedBeforeTheWork) {
  const std::filesystem::path from = ATTEND_SOURCE_DIR "/tests/models/fixtures/t5_tokenizer";
  std::filesystem::copy(from, folder_ / "int8");
  const auto model = ModelFolder(from).load();
  quantise(*model);
  model->save(folder_ / "int8");
  auto o = SummaryTrainingOptions::finetune(folder_ / "int8");
  o.train = folder_ / "train.tsv", o.trainer.output = folder_ / "tuned", o.trainer.steps = 1;
  EXPECT_ERROR(train_summarizer(o), "the folder holds int8 weights, which can be run, but not trained");
  EXPECT_FALSE(std::filesystem::exists(folder_ / "tuned/model.safetensors"));
}

TEST_F(SummaryTraining, MissingDataAreErrors) {
  SummaryTrainingOptions o = options("x");
  o.train.clear();
  EXPECT_ERROR(train_summarizer(o), "no summaries to learn from");
  o = options("x"), o.validation.clear(), o.trainer.metric = "rouge2";
  EXPECT_ERROR(train_summarizer(o), "there is nothing to summarize for rouge2");
  o = options("x"), o.max_tokens = 1;
  EXPECT_ERROR(train_summarizer(o), "0 sequences");
  std::ofstream(folder_ / "plain.tsv") << "no tab here\n";
  o = options("x"), o.train = folder_ / "plain.tsv";
  EXPECT_ERROR(train_summarizer(o), "plain.tsv");
  o = options("x"), o.from = folder_.path();
  EXPECT_ERROR(train_summarizer(o), "config.json");
}

}  // namespace
}  // namespace attend
