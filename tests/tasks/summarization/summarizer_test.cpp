// Tests the Summarizer with small untrained models: it gives the summaries of transformers (tests/golden/summaries.py),
// and has properties that do not depend on the quality of summaries.
#include "attend/tasks/summarization/summarizer.h"

#include <gtest/gtest.h>

#include <cmath>
#include <fstream>
#include <nlohmann/json.hpp>

#include "attend/tasks/summarization/consensus.h"
#include "attend/text/sentences.h"
#include "tests/support/errors.h"
#include "tests/support/temp_folder.h"

namespace attend {
namespace {

const std::filesystem::path kModels = ATTEND_SOURCE_DIR "/tests/models/fixtures";
const std::string kDocument =
    "  To be or not to be. That is the question! Once upon a time there was a king.\nHe had no hair at all. Who said "
    "it?";

float sum_of(const std::vector<SourceSentence>& sentences) {
  float sum = 0;
  for (const SourceSentence& one : sentences) sum += one.weight;
  return sum;
}

using Json = nlohmann::json;

Json read_json(const std::filesystem::path& file) { return Json::parse(std::ifstream(file)); }

TEST(Summarizer, GivesTheSummariesOfTransformersWithTheOptionsOfTheFolder) {
  const Json golden = read_json(ATTEND_SOURCE_DIR "/tests/golden/summaries.json");
  const std::vector<std::string> documents = golden["documents"];
  for (const Json& one : golden["cases"]) {
    const test::TempFolder folder;
    std::filesystem::copy(kModels / one["folder"], folder.path(), std::filesystem::copy_options::recursive);
    Json config = read_json(folder / "config.json");
    config["task_specific_params"] = {{"summarization", one["parameters"]}};
    if (one.contains("prefix")) config["prefix"] = one["prefix"];
    std::ofstream(folder / "config.json") << config;
    const Summarizer summarizer(folder.path());
    const std::vector<Summary> found = summarizer(documents);
    for (std::size_t i = 0; i < documents.size(); ++i) {
      const Json& expected = one["summaries"][i];
      const std::string what = one["folder"].get<std::string>() + " " + one["parameters"].dump() + ": " + documents[i];
      EXPECT_EQ(found[i].ids, expected["ids"].get<std::vector<std::int32_t>>()) << what;
      EXPECT_EQ(found[i].text, expected["summary"]) << what;
      EXPECT_EQ(found[i].truncated, 0) << what;
      if (expected.contains("score")) {
        EXPECT_NEAR(found[i].score, expected["score"].get<double>(), 1e-4) << what;
      }
    }
  }
}

TEST(Summarizer, TheCallersOptionsOverrideThoseOfTheFolder) {
  const test::TempFolder folder;
  std::filesystem::copy(kModels / "t5_tokenizer", folder.path(), std::filesystem::copy_options::recursive);
  Json config = read_json(folder / "config.json");
  config["task_specific_params"]["summarization"] = {
      {"max_length", 30}, {"min_length", 20}, {"num_beams", 4}, {"prefix", "a king: "}, {"top_k", 5}};
  std::ofstream(folder / "config.json") << config;
  const Summarizer with(folder.path()), without(kModels / "t5_tokenizer");
  const auto same = [&](GenerationOptions search) {
    search.max_new_tokens = 7, search.min_new_tokens = 5;
    return with(kDocument, {.search = search, .source_prefix = ""}).ids == without(kDocument, {.search = search}).ids;
  };
  EXPECT_TRUE(same({.beam = 2}));
  EXPECT_TRUE(same({.greedy = true}));
  EXPECT_TRUE(same({.sample = true, .top_k = 3, .seed = 4})) << "a beam of the folder does not hinder sampling";
  EXPECT_FALSE(with(kDocument).ids.empty()) << "top_k alone does not ask for sampling";
}

TEST(Summarizer, ADocumentThatFitsIsOneSourceBehindItsPrefix) {
  const Summarizer summarizer(kModels / "t5_tokenizer");
  const Translator translator(kModels / "t5_tokenizer");
  const GenerationOptions search{.beam = 2, .max_new_tokens = 9};
  const Summary summary = summarizer(kDocument, {.search = search, .source_prefix = "a king: "});
  const Translation expected = translator("a king: " + kDocument, {.search = search, .sentences = SentenceMode::whole});
  EXPECT_EQ(summary.ids, expected.ids);
  EXPECT_EQ(summary.text, expected.text);
  EXPECT_EQ(summary.score, expected.score);
  EXPECT_EQ(summary.parts, 1);
  EXPECT_TRUE(summary.sentences.empty());
}

TEST(Summarizer, TheWeightOfASentenceIsItsShareOfTheCrossAttention) {
  const Summarizer summarizer(kModels / "t5_tokenizer");
  const Translator translator(kModels / "t5_tokenizer");
  const GenerationOptions search{.max_new_tokens = 6};
  const Summary summary = summarizer(kDocument, {.search = search, .source_prefix = "", .sources = true});
  const Translation whole =
      translator(kDocument, {.search = search, .sentences = SentenceMode::whole, .attention = true});
  const std::vector<Span> expected = sentences(kDocument);
  ASSERT_EQ(summary.sentences.size(), expected.size());
  double total = 0;
  std::vector<double> sums(expected.size());
  for (const std::vector<float>& row : whole.attention)
    for (std::size_t s = 0; s < row.size(); ++s)
      for (std::size_t i = 0; i < expected.size(); ++i)
        if (const Span& token = whole.source_spans[s];
            token.end > token.begin && token.end > expected[i].begin && token.end <= expected[i].end)
          sums[i] += row[s], total += row[s];
  for (std::size_t i = 0; i < expected.size(); ++i) {
    EXPECT_EQ(summary.sentences[i].span.begin, expected[i].begin);
    EXPECT_NEAR(summary.sentences[i].weight, sums[i] / total, 1e-5) << i;
  }
}

TEST(Summarizer, ALongDocumentIsSummarizedInPartsUntilOneIsLeft) {
  const Summarizer summarizer(kModels / "t5_tokenizer");
  std::string document;
  for (int i = 0; i < 20; ++i) document += kDocument;
  const SummarizeOptions options{.search = {.max_new_tokens = 5}, .max_source_tokens = 40, .sources = true};
  const std::vector<std::string> documents{document, "To be.", document};
  const std::vector<Summary> found = summarizer(documents, options);
  EXPECT_GT(found[0].parts, 3);
  EXPECT_EQ(found[0].truncated, 0);
  EXPECT_EQ(found[0].text, found[2].text) << "documents do not influence each other";
  EXPECT_EQ(found[1].parts, 1);
  EXPECT_EQ(found[0].sentences.size(), sentences(document).size());
  EXPECT_NEAR(sum_of(found[0].sentences), 1, 1e-4);
}

TEST(Summarizer, ASampleOfALongDocumentHasOneSeed) {
  const Summarizer summarizer(kModels / "t5_tokenizer");
  std::string document;
  for (int i = 0; i < 4; ++i) document += kDocument;
  SummarizeOptions options{.search = {.temperature = 3, .max_new_tokens = 5}, .max_source_tokens = 40};
  const Summary first = summarizer(document, options);
  ASSERT_TRUE(first.seed.has_value());
  ASSERT_GT(first.parts, 1);
  options.search.seed = first.seed;
  EXPECT_EQ(summarizer(document, options).ids, first.ids);
  EXPECT_FALSE(summarizer(document, {.search = {.max_new_tokens = 5}}).seed.has_value());
}

TEST(Summarizer, SummariesThatAreNoShorterThanTheirPartsEnd) {
  const Summarizer summarizer(kModels / "t5_tokenizer");
  const SummarizeOptions options{
      .search = {.max_new_tokens = 60, .min_new_tokens = 60}, .max_source_tokens = 12, .sources = true};
  const Summary summary = summarizer(kDocument, options);
  EXPECT_GT(summary.parts, 1);
  EXPECT_GT(summary.truncated, 0) << "their end is cut, and that is counted";
  EXPECT_NEAR(sum_of(summary.sentences), 1, 1e-4);
}

TEST(Summarizer, ASentenceThatDoesNotFitIsCutIntoWindows) {
  const Summarizer summarizer(kModels / "t5_tokenizer");
  std::string sentence = "once";
  for (int i = 0; i < 60; ++i) sentence += " upon a time";
  const Summary summary =
      summarizer(sentence + ".", {.search = {.max_new_tokens = 3}, .max_source_tokens = 30, .sources = true});
  EXPECT_GT(summary.parts, 2);
  EXPECT_EQ(summary.truncated, 0);
  ASSERT_EQ(summary.sentences.size(), 1u);
  EXPECT_NEAR(summary.sentences[0].weight, 1, 1e-5);
}

TEST(Summarizer, LongDocumentsAreCutOrRefusedIfTheCallerWantsThat) {
  const Summarizer summarizer(kModels / "t5_tokenizer");
  const std::vector<std::string> documents{"To be.", kDocument};
  SummarizeOptions options{.search = {.max_new_tokens = 3}, .max_source_tokens = 20, .long_text = LongText::truncate};
  const std::vector<Summary> found = summarizer(documents, options);
  EXPECT_EQ(found[0].truncated, 0);
  EXPECT_GT(found[1].truncated, 0);
  EXPECT_EQ(found[1].parts, 1);
  options.long_text = LongText::error;
  EXPECT_ERROR(summarizer(documents, options), "the text is too long: got ");
}

TEST(Summarizer, ABlankDocumentHasABlankSummary) {
  const Summarizer summarizer(kModels / "t5_tokenizer");
  for (const char* blank : {"", " \n\t"}) {
    const Summary summary = summarizer(blank, {.sources = true});
    EXPECT_EQ(summary.text, "");
    EXPECT_EQ(summary.parts, 0);
  }
}

TEST(Summarizer, TheFolderGivesPrefixAndLengths) {
  const test::TempFolder folder;
  std::filesystem::copy(kModels / "t5_tokenizer", folder.path(), std::filesystem::copy_options::recursive);
  Config parameters, tasks, config(folder / "config.json");
  parameters.set("prefix", "a king: "), parameters.set("max_length", std::int64_t{7});
  parameters.set("min_length", std::int64_t{7}), parameters.set("num_beams", std::int64_t{3});
  tasks.set("summarization", parameters), config.set("task_specific_params", tasks);
  config.save(folder / "config.json");
  const Summary summary = Summarizer(folder.path())(kDocument);
  const Summary expected = Summarizer(kModels / "t5_tokenizer")(
      kDocument, {.search = {.beam = 3, .max_new_tokens = 6, .min_new_tokens = 6}, .source_prefix = "a king: "});
  EXPECT_EQ(summary.ids, expected.ids);
  EXPECT_EQ(summary.ids.size(), 6u);
}

TEST(Summarizer, ChoosesTheCandidateThatAgreesWithTheOthers) {
  const test::TempFolder folder;
  std::filesystem::copy(kModels / "t5_tokenizer", folder.path(), std::filesystem::copy_options::recursive);
  Config parameters, tasks, config(folder / "config.json");
  parameters.set("attend_candidates", std::int64_t{4}), parameters.set("max_length", std::int64_t{9});
  tasks.set("summarization", parameters), config.set("task_specific_params", tasks);
  config.save(folder / "config.json");
  const Summarizer summarizer(folder.path());
  std::vector<std::string> texts;
  std::vector<double> probabilities;
  const Translator translator(folder.path());
  const std::string document = "To be or not to be.";
  const auto found = translator(std::span(&document, 1),
                                {.search = {.nbest = 4, .max_new_tokens = 8}, .sentences = SentenceMode::whole});
  for (const Translation& one : found.front())
    texts.push_back(one.text), probabilities.push_back(std::exp(one.log_probability));
  ASSERT_EQ(texts.size(), 4u);
  const auto summary = [&](const SummarizeOptions& options) { return summarizer(document, options); };
  EXPECT_EQ(summary({.search = {.beam = 4}}).text, texts[consensus(texts, probabilities)]);
  EXPECT_EQ(summary({.search = {.beam = 4}, .candidates = 1}).text, texts[0]);
  EXPECT_EQ(summary({.search = {.greedy = true}}).text, summary({.candidates = 1}).text);

  const std::vector<std::vector<Translation>> samples = translator(
      std::span(&document, 1),
      {.search = {.sample = true, .nbest = 4, .seed = 1, .max_new_tokens = 8}, .sentences = SentenceMode::whole});
  texts.clear();
  for (const Translation& one : samples.front()) texts.push_back(one.text);
  const Summary chosen = summary({.sources = true});
  EXPECT_EQ(chosen.text, texts[consensus(texts, std::vector<double>(4, 1.0))]);
  EXPECT_NEAR(sum_of(chosen.sentences), 1, 1e-4);
}

TEST(Summarizer, BadOptionsAreErrors) {
  const Summarizer summarizer(kModels / "t5_tokenizer");
  EXPECT_ERROR(summarizer(kDocument, {.source_prefix = kDocument, .max_source_tokens = 10}),
               "leaves no room for a text after the prefix");
  EXPECT_ERROR(Summarizer(kModels / "gpt2_tokenizer"), "expected a translator");
}

}  // namespace
}  // namespace attend
