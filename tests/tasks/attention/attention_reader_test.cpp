// Attention weights, computed from raw text, are compared with Hugging Face's (tests/golden/attention_maps.py).
// Requests that a model does not support are errors.
#include "attend/tasks/attention/attention_reader.h"

#include <gtest/gtest.h>

#include <cmath>
#include <fstream>
#include <nlohmann/json.hpp>
#include <thread>

#include "attend/models/recurrent_classifier.h"
#include "attend/nn/module.h"
#include "attend/text/training/train_words.h"
#include "tests/support/errors.h"
#include "tests/support/golden.h"
#include "tests/support/temp_folder.h"

namespace attend {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::json;

const fs::path kTests = fs::path(ATTEND_SOURCE_DIR) / "tests";
const fs::path kBert = kTests / "tasks/fixtures/bert_labels", kGpt2 = kTests / "models/fixtures/gpt2_tokenizer",
               kMarian = kTests / "models/fixtures/marian_tokenizer";

/// A request from a golden case. A tab separates the texts of a pair, as in `attend attention`.
AttentionRequest request_of(const Json& one) {
  const std::string text = one.at("text");
  AttentionRequest request{.text = text.substr(0, text.find('\t'))};
  if (text.find('\t') != text.npos) request.pair = text.substr(text.find('\t') + 1);
  if (one.contains("target")) request.target = one.at("target");
  if (one.contains("max_new_tokens")) request.search.max_new_tokens = one["max_new_tokens"];
  return request;
}

void check_rows(const AttentionView& view) {
  const std::int64_t Q = view.queries.size(), K = view.keys.size();
  for (const Tensor& layer : view.weights)
    for (std::int64_t row = 0; row < layer.dim(0) * Q; ++row) {
      double sum = 0;
      for (std::int64_t k = 0; k < K; ++k) sum += layer.data()[row * K + k];
      EXPECT_NEAR(sum, 1, 1e-5);
    }
}

TEST(AttentionReader, ASingleLayerHasTheSameWeightsAsAmongAllLayers) {
  for (const fs::path& folder : {kBert, kGpt2}) {
    const AttentionReader reader(folder);
    const AttentionMap all = reader({.text = "low lower"}).front();
    const AttentionMap first = reader({.text = "low lower", .selection = {.layers = {0}}}).front();
    ASSERT_EQ(first.view().weights.size(), 1u);
    EXPECT_TRUE(std::ranges::equal(first.view().weights[0].span(), all.view().weights[0].span()));
    EXPECT_TRUE(first.logprobs.empty());
  }
}

TEST(AttentionReader, GivesHuggingFacesWeightsFromRawText) {
  std::ifstream file(kTests / "golden/attention_maps.json");
  const Json cases = Json::parse(file);
  const SafetensorsFile golden = test::golden("attention_maps");
  ASSERT_GE(cases.size(), 9u);
  for (std::size_t i = 0; i < cases.size(); ++i) {
    const Json& one = cases[i];
    SCOPED_TRACE(one.at("folder").get<std::string>() + ": " + one.at("text").get<std::string>());
    const std::vector<AttentionMap> maps = AttentionReader(kTests / one.at("folder"))(request_of(one));
    ASSERT_EQ(maps.size(), 1u);
    const AttentionMap& map = maps.front();
    EXPECT_EQ(Json(map.view().keys.written), one.at("tokens"));
    if (one.contains("target_tokens")) {
      EXPECT_EQ(Json(map.view().queries.written), one.at("target_tokens"));
    }
    ASSERT_EQ(map.views.size(), one.at("layers").size());
    for (const AttentionView& view : map.views) {
      ASSERT_EQ(Json(view.layers.size()), one.at("layers").at(name_of(view.kind)));
      check_rows(view);
      for (std::size_t l = 0; l < view.layers.size(); ++l)
        EXPECT_TRUE(test::close(view.weights[l],
                                golden.get(std::to_string(i) + "/" + name_of(view.kind) + "/" + std::to_string(l)),
                                {.relative = 1e-5f, .absolute = 1e-5f}))
            << name_of(view.kind) << " layer " << l;
    }
    if (!golden.contains(std::to_string(i) + "/logprobs")) continue;
    const std::vector<float> logprobs = golden.get(std::to_string(i) + "/logprobs").to_vector();
    ASSERT_EQ(map.logprobs.size(), logprobs.size() + 1);
    EXPECT_TRUE(std::isnan(map.logprobs.front()));
    for (std::size_t t = 0; t < logprobs.size(); ++t) EXPECT_NEAR(map.logprobs[t + 1], logprobs[t], 1e-4);
  }
}

TEST(AttentionReader, GivesAMapForEachHypothesisOfABeam) {
  const AttentionReader reader(kMarian);
  const std::string text = "Nessuno scrive.";
  const std::vector<AttentionMap> maps = reader({.text = text, .search = {.beam = 4, .nbest = 3}});
  ASSERT_EQ(maps.size(), 3u);
  for (const AttentionMap& map : maps) {
    const AttentionView& cross = map.view();
    EXPECT_EQ(cross.kind, AttentionKind::cross);
    EXPECT_TRUE(map.score.has_value());
    check_rows(cross);
    const Translator translator(kMarian);
    const auto all = translator(std::span(&text, 1), {{.beam = 4, .nbest = 3}});
    const auto& found = all.front()[static_cast<std::size_t>(&map - maps.data())];
    EXPECT_EQ(found.text, *map.translation);
    EXPECT_EQ(std::ssize(found.ids), cross.queries.size());
  }
}

TEST(AttentionReader, KeepsOnlyTheSelectedLayersAndHeads) {
  const AttentionReader reader(kGpt2);
  const std::string text = "low lower";
  const AttentionMap all = reader({.text = text}).front();
  const AttentionMap some = reader({.text = text, .selection = {.layers = {-1}, .heads = {3, 1}}}).front();
  EXPECT_EQ(some.view().layers, std::vector<std::int64_t>{1});
  EXPECT_EQ(some.view().heads, (std::vector<std::int64_t>{1, 3}));
  const std::int64_t T = all.view().keys.size();
  for (std::int64_t i = 0; i < T * T; ++i) {
    EXPECT_EQ(some.view().weights[0].data()[i], all.view().weights[1].data()[T * T + i]);
    EXPECT_EQ(some.view().weights[0].data()[T * T + i], all.view().weights[1].data()[3 * T * T + i]);
  }
  EXPECT_TRUE(all.view().causal);
}

TEST(AttentionReader, NumbersTheWordsOfItsTokens) {
  const AttentionMap pair = AttentionReader(kBert)({.text = "the river", .pair = "of money"}).front();
  const std::vector<std::int32_t>& words = pair.view().keys.words;
  EXPECT_EQ(words.front(), -1);
  EXPECT_EQ(words.back(), -1);
  EXPECT_EQ(std::ranges::max(words), 3);
  const AttentionMap map = AttentionReader(kMarian)({.text = "Nessuno scrive.", .target = "The child"}).front();
  EXPECT_EQ(std::ranges::max(map.view().keys.words), 1);
  EXPECT_EQ(std::ranges::max(map.view().queries.words), 1);
  for (const auto& [source, target] : map.alignments) {
    EXPECT_LT(source, 2u);
    EXPECT_LT(target, 2u);
  }
  EXPECT_EQ(map.view(AttentionKind::decoder).queries.words.front(), -1);  // the start token
}

TEST(AttentionReader, CountsTheTokensThatWereTruncated) {
  std::string longer;
  for (int i = 0; i < 60; ++i) longer += "river ";
  const AttentionReader bert(kBert), gpt2(kGpt2), marian(kMarian);
  for (const AttentionReader& reader : {bert, gpt2, marian}) {
    EXPECT_THROW(reader({.text = longer}), InputError);
    const AttentionMap map = reader({.text = longer, .long_text = LongText::truncate}).front();
    EXPECT_GT(map.truncated, 0);
    check_rows(map.view());
  }
}

TEST(AttentionReader, UnsupportedRequestsAreErrors) {
  const AttentionReader bert(kBert), gpt2(kGpt2), marian(kMarian);
  const auto says = [](const AttentionReader& reader, const AttentionRequest& request, const std::string& part) {
    try {
      reader(request);
      ADD_FAILURE() << "nothing was thrown, expected: " << part;
    } catch (const InputError& error) {
      EXPECT_NE(std::string(error.what()).find(part), std::string::npos) << error.what();
    }
  };
  says(bert, {.text = "the river", .selection = {.layers = {7}}}, "no such layer: got 7, expected 0 to 1");
  says(bert, {.text = "the river", .selection = {.heads = {2}}}, "no such head: got 2, expected 0 to 1");
  says(bert, {.text = "the river", .selection = {.views = {AttentionKind::cross}}}, "self-attention only");
  says(bert, {.text = "the river", .target = "x"}, "only translators do");
  says(bert, {.text = "the river", .search = {.max_new_tokens = 3}}, "does not support generation options");
  says(bert, {.text = "  "}, "blank");
  says(gpt2, {.text = ""}, "empty");
  says(gpt2, {.text = "low", .pair = "lower"}, "BERT");
  says(marian, {.text = " "}, "blank");
  says(marian, {.text = "Nessuno", .target = ""}, "blank");
  says(marian, {.text = "Nessuno", .selection = {.views = {AttentionKind::self}}}, "no attention of that kind");
  says(bert, {.text = "the river", .long_text = LongText::split}, "long_text split is not supported");
  EXPECT_THROW(AttentionReader(kTests / "golden"), InputError);
}

class Recurrent : public testing::Test {
 protected:
  Recurrent() {
    bool given = false;
    tokenizer_ = train_words([&](std::string& line) {
      line = "one two three four five";
      return !std::exchange(given, true);
    });
  }
  Tokenizer tokenizer_ = load_tokenizer(kGpt2);
};

TEST_F(Recurrent, ClassifiersHaveTheWeightsOfAttentionPooling) {
  RecurrentClassifierOptions options;
  options.vocabulary = tokenizer_.size(), options.labels = {"a", "b"}, options.embedding = options.hidden = 6;
  const test::TempFolder folder;
  const auto saved = [&] {
    RecurrentClassifier(options).save(folder.path());
    save_tokenizer(tokenizer_, folder.path());
    return Classifier(folder.path());
  };
  const Classifier classifier = saved();
  const AttentionMap map = AttentionReader(classifier)({.text = "one two three"}).front();
  EXPECT_EQ(map.view().queries.size(), 1);
  check_rows(map.view());
  const std::string text = "one two three";
  const std::vector<float> known = classifier(std::span(&text, 1), {.attention = true}).front().attention;
  EXPECT_EQ(map.view().weights.front().to_vector(), known);
  options.pooling = StatePooling::mean;
  const AttentionReader mean_pooling(saved());
  EXPECT_THROW(mean_pooling({.text = text}), InputError);
}

TEST_F(Recurrent, TranslatorsHaveCrossAttentionOnly) {
  RecurrentTranslatorOptions options;
  options.source_vocabulary = options.target_vocabulary = tokenizer_.size();
  options.embedding = options.hidden = 6;
  const Translator translator(RecurrentTranslator(options), tokenizer_);
  const AttentionMap map = AttentionReader(translator)({.text = "one two three", .target = "four five"}).front();
  ASSERT_EQ(map.views.size(), 1u);
  EXPECT_EQ(map.view().kind, AttentionKind::cross);
  EXPECT_EQ(map.view().queries.size(), 3);
  check_rows(map.view());
  options.attention = DecoderAttention::none;
  const AttentionReader without_attention(Translator(RecurrentTranslator(options), tokenizer_));
  EXPECT_THROW(without_attention({.text = "one two"}), InputError);
}

TEST(AttentionReader, OpensFoldersOfSentenceTransformers) {
  EXPECT_EQ(AttentionReader(kTests / "tasks/fixtures/sentence_dense")({.text = "here"}).size(), 1u);
  EXPECT_EQ(AttentionReader(kTests / "tasks/fixtures/sentence_mean")({.text = "here"}).size(), 1u);
}

TEST(AttentionReader, IsThreadSafe) {
  const AttentionReader reader(kMarian);
  const std::vector<float> expected = reader({.text = "Nessuno scrive."}).front().view().weights[0].to_vector();
  std::vector<std::thread> threads;
  for (int t = 0; t < 3; ++t)
    threads.emplace_back([&] {
      for (int i = 0; i < 3; ++i)
        EXPECT_EQ(reader({.text = "Nessuno scrive."}).front().view().weights[0].to_vector(), expected);
    });
  for (std::thread& thread : threads) thread.join();
}

}  // namespace
}  // namespace attend
