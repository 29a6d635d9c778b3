// One NaN among the weights is an error of every task, not an answer.
#include <gtest/gtest.h>

#include <limits>

#include "attend/core/finite.h"
#include "attend/formats/safetensors.h"
#include "attend/tasks/algorithm/algorithm_model.h"
#include "attend/tasks/algorithm/training.h"
#include "attend/tasks/attention/attention_reader.h"
#include "attend/tasks/classification/classifier.h"
#include "attend/tasks/embedding/text_encoder.h"
#include "attend/tasks/language_model/language_model.h"
#include "attend/tasks/masked_lm/mask_filler.h"
#include "attend/tasks/question_answering/answerer.h"
#include "attend/tasks/question_answering/training.h"
#include "attend/tasks/stories/story_reader.h"
#include "attend/tasks/stories/training.h"
#include "attend/tasks/tagging/tagger.h"
#include "attend/tasks/translation/translator.h"
#include "tests/support/errors.h"
#include "tests/tasks/bert_fixture.h"
#include "tests/tasks/question_answering/questions_fixture.h"
#include "tests/tasks/stories/stories_fixture.h"

namespace attend {
namespace {

using test::bert_fixture;
using test::TempFolder;

const std::vector<std::string> kTexts = {"the king is here"};

std::filesystem::path model_fixture(const std::string& name) {
  return std::filesystem::path(ATTEND_SOURCE_DIR) / "tests/models/fixtures" / name;
}

/// A copy of a folder in which the first number of a tensor is replaced.
class DamagedFolder {
 public:
  DamagedFolder(const std::filesystem::path& folder, const std::string& tensor, float value) {
    std::filesystem::copy(folder, path(), std::filesystem::copy_options::recursive);
    std::vector<NamedTensor> all;
    const SafetensorsFile file(folder / "model.safetensors");
    for (const std::string& name : file.names()) all.push_back({name, file.get(name).copy()});
    for (const NamedTensor& one : all)
      if (one.name == tensor) one.tensor.data()[0] = value;
    save_safetensors(path() / "model.safetensors", all);
  }
  std::filesystem::path path() const { return folder_ / "model"; }

 private:
  TempFolder folder_;
};

/// Expects the error of `use(folder)` for a NaN and for an infinity in a tensor.
void expect_refused(const std::filesystem::path& folder, const std::string& tensor, const auto& use) {
  EXPECT_NO_THROW(use(folder));
  for (const float bad : {std::numeric_limits<float>::quiet_NaN(), std::numeric_limits<float>::infinity()}) {
    const DamagedFolder damaged(folder, tensor, bad);
    EXPECT_THROW(use(damaged.path()), ModelError) << folder << ' ' << tensor << ' ' << bad;
    EXPECT_ERROR(use(damaged.path()), "the model gives numbers that are not finite");
  }
}

TEST(DamagedWeights, ClassifierRefuses) {
  const auto classify = [](const auto& folder) { Classifier{folder}(kTexts); };
  expect_refused(bert_fixture("bert_labels"), "bert.embeddings.LayerNorm.bias", classify);
  expect_refused(bert_fixture("bert_labels"), "classifier.bias", classify);
  expect_refused(bert_fixture("bert_several_labels"), "classifier.bias", classify);
  expect_refused(model_fixture("gpt2_labels"), "transformer.ln_f.bias", classify);
}

TEST(DamagedWeights, ClassifierWithAttentionRefuses) {
  const auto classify = [](const auto& folder) { Classifier{folder}(kTexts, {.attention = true}); };
  expect_refused(bert_fixture("bert_labels"), "classifier.bias", classify);
  expect_refused(model_fixture("gpt2_labels"), "transformer.ln_f.bias", classify);
}

TEST(DamagedWeights, TextEncoderRefusesWithEveryPooling) {
  for (const Pooling pooling : {Pooling::cls, Pooling::mean, Pooling::max})
    expect_refused(bert_fixture("sentence_mean"), "encoder.layer.0.output.LayerNorm.bias",
                   [&](const auto& folder) { TextEncoder{folder}.embed(kTexts, {.pool = pooling}); });
}

TEST(DamagedWeights, MaskFillerRefuses) {
  const std::vector<std::string> masked = {"the [MASK] is here"};
  const auto fill = [&](const auto& folder) { MaskFiller{folder}(masked); };
  expect_refused(bert_fixture("bert_words"), "cls.predictions.bias", fill);
  expect_refused(bert_fixture("bert_words"), "bert.embeddings.LayerNorm.bias", fill);
}

TEST(DamagedWeights, AnswererAndTaggerRefuse) {
  expect_refused(bert_fixture("bert_answers"), "qa_outputs.bias",
                 [](const auto& folder) { Answerer{folder}("who is here", kTexts[0]); });
  expect_refused(bert_fixture("bert_tags"), "classifier.bias", [](const auto& folder) { Tagger{folder}(kTexts); });
}

TEST(DamagedWeights, LanguageModelRefusesToScoreAndToGenerate) {
  const std::filesystem::path folder = model_fixture("gpt2_tokenizer");
  expect_refused(folder, "transformer.ln_f.bias", [](const auto& path) { LanguageModel{path}.score(kTexts); });
  for (const GenerationOptions& options : {GenerationOptions{.greedy = true},
                                           {.beam = 3},
                                           {.sample = true, .seed = 1},
                                           {.greedy = true, .bad_words = std::vector<std::string>{"a"}}})
    expect_refused(folder, "transformer.ln_f.bias",
                   [&](const auto& path) { LanguageModel{path}.generate(kTexts, {.search = options}); });
}

TEST(DamagedWeights, TranslatorRefuses) {
  for (const char* tensor : {"final_logits_bias", "model.encoder.layers.0.fc1.bias"})
    expect_refused(model_fixture("marian_tokenizer"), tensor, [](const auto& folder) { Translator{folder}(kTexts); });
}

TEST(DamagedWeights, AttentionReaderRefuses) {
  const auto attend = [](const auto& folder) { AttentionReader{folder}({.text = kTexts[0]}); };
  expect_refused(bert_fixture("bert_labels"), "bert.embeddings.LayerNorm.bias", attend);
  expect_refused(model_fixture("gpt2_tokenizer"), "transformer.h.0.ln_1.bias", attend);
  expect_refused(model_fixture("marian_tokenizer"), "model.encoder.layers.0.self_attn_layer_norm.bias", attend);
}

TEST(DamagedWeights, BidafRefuses) {
  const test::QuestionFolder data;
  AnswerTrainingOptions options;
  options.train = {data / "dev.json"};
  options.network.embedding = 8, options.network.hidden = 4, options.network.filters = 4;
  options.trainer.epochs = 1, options.trainer.output = data / "model";
  train_answers(options);
  for (const char* tensor : {"start.bias", "end.bias"})
    expect_refused(data / "model", tensor, [](const auto& folder) { Answerer{folder}("who is here", kTexts[0]); });
}

TEST(DamagedWeights, StoryReaderRefuses) {
  const test::StoryFolder data;
  StoryTrainingOptions options;
  options.data = {data.path()}, options.restarts = 1;
  options.model.width = 8, options.trainer.epochs = 1, options.trainer.output = data / "model";
  train_stories(options);
  expect_refused(data / "model", "embeddings.0.times",
                 [](const auto& folder) { StoryReader{folder}({"John went to the garden."}, "Where is John?"); });
  expect_refused(data / "model", "embeddings.0.times", [&](const auto& folder) {
    StoryReader{folder}.evaluate(read_stories(data / "qa1_moves_test.txt", 1));
  });
}

TEST(DamagedWeights, LearnedAlgorithmRefuses) {
  const TempFolder output;
  AlgorithmTrainingOptions options;
  options.bits = 2, options.max_length = 2, options.hidden = 8, options.slots = 8, options.width = 4;
  options.validation = 2, options.trainer.steps = 1, options.trainer.output = output / "model";
  train_algorithm(options);
  expect_refused(output / "model", "output.bias", [](const auto& folder) {
    const AlgorithmModel model(folder);
    model(make_sequence(model.algorithm(), 1, 0));
  });
  expect_refused(output / "model", "output.bias", [](const auto& folder) {
    const AlgorithmModel model(folder);
    model.evaluate(model.algorithm(), 2, 1);
  });
}

}  // namespace
}  // namespace attend
