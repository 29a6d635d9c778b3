// Classification with BERT is compared with Hugging Face's text-classification pipeline (tests/golden/bert_uses.py).
// Recurrent classifiers are tested in training_test.cpp.
#include "attend/tasks/classification/classifier.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>

#include "tests/support/errors.h"
#include "tests/tasks/bert_fixture.h"

namespace attend {
namespace {

using test::bert_fixture;
using test::Expected;

void expect_probabilities(const std::vector<Classification>& results, JsonValue expected) {
  ASSERT_EQ(results.size(), expected.size());
  for (std::size_t i = 0; i < results.size(); ++i) {
    const std::vector<float> wanted = test::numbers(expected[i]);
    for (std::size_t label = 0; label < wanted.size(); ++label)
      EXPECT_NEAR(results[i].probabilities[label], wanted[label], 1e-5) << "text " << i;
  }
}

class BertLabels : public testing::TestWithParam<const char*> {};
INSTANTIATE_TEST_SUITE_P(Classifier, BertLabels,
                         testing::Values("bert_labels", "bert_several_labels", "electra_labels"),
                         [](const auto& info) { return std::string(info.param); });

TEST_P(BertLabels, HaveTheProbabilitiesOfTransformers) {
  const Classifier classifier(bert_fixture(GetParam()));
  const Expected expected(GetParam());
  EXPECT_EQ(classifier.labels(), (std::vector<std::string>{"sport", "weather", "art"}));
  expect_probabilities(classifier(expected.texts()), expected["probs"]);
  expect_probabilities(classifier(expected.texts("pairs"), {.pairs = true}), expected["pair_probs"]);
}

TEST_P(BertLabels, ComeWithTheAttentionOfTheFirstToken) {
  const Classifier classifier(bert_fixture(GetParam()));
  const Expected expected(GetParam());
  const std::vector<Classification> results = classifier(expected.texts(), {.attention = true});
  expect_probabilities(results, expected["probs"]);
  const std::vector<float> wanted = test::numbers(expected["attention"]);
  ASSERT_EQ(results[0].attention.size(), wanted.size());
  ASSERT_EQ(results[0].tokens.size(), wanted.size());
  ASSERT_EQ(results[0].spans.size(), wanted.size());
  for (std::size_t i = 0; i < wanted.size(); ++i) EXPECT_NEAR(results[0].attention[i], wanted[i], 1e-5);
}

TEST(Classifier, ClassifiesWithTheLastTokenOfGpt2) {
  const std::filesystem::path folder = std::filesystem::path(ATTEND_SOURCE_DIR) / "tests/models/fixtures/gpt2_labels";
  const Classifier classifier(folder);
  EXPECT_EQ(classifier.labels(), (std::vector<std::string>{"bad", "good", "neither"}));
  const std::vector<std::string> texts{"once upon a time", "The", "", "what a day, what a day"};
  const std::vector<Classification> all = classifier(texts), seen = classifier(texts, {.attention = true});
  for (std::size_t i = 0; i < texts.size(); ++i) {
    const std::vector<float>& p = all[i].probabilities;
    EXPECT_NEAR(std::accumulate(p.begin(), p.end(), 0.f), 1.f, 1e-6f);
    EXPECT_EQ(classifier({&texts[i], 1}).front().probabilities, p) << "the same alone and in a batch";
    EXPECT_EQ(seen[i].probabilities, p);
    ASSERT_EQ(seen[i].attention.size(), seen[i].tokens.size());
    EXPECT_NEAR(std::accumulate(seen[i].attention.begin(), seen[i].attention.end(), 0.f), 1.f, 1e-5f);
  }
  EXPECT_GT(classifier(std::vector<std::string>{std::string(400, 'x')}).front().truncated, 0);
  EXPECT_ERROR(classifier(texts, {.pairs = true}), "GPT-2 takes single texts");
  EXPECT_ERROR(Classifier(folder.parent_path() / "gpt2_tokenizer"), "is a language model, expected a classifier");
}

TEST(Classifier, AMultiLabelModelPredictsAllLabelsAboveOneHalf) {
  const Classifier classifier(bert_fixture("bert_several_labels"));
  EXPECT_TRUE(classifier.several_labels());
  std::size_t held = 0;
  for (const Classification& result : classifier(Expected("bert_several_labels").texts())) {
    for (std::size_t label = 0; label < 3; ++label)
      EXPECT_EQ(std::ranges::count(result.predicted, label), result.probabilities[label] > 0.5f);
    held += result.predicted.size();
  }
  EXPECT_GT(held, 0u);
  EXPECT_FALSE(Classifier(bert_fixture("bert_labels")).several_labels());
}

TEST(Classifier, TheSpansOfAPairAreInTheWholeLine) {
  const Classifier classifier(bert_fixture("bert_labels"));
  const std::string line = "Nobody here\tUn marinaio";
  const Classification result = classifier(std::span(&line, 1), {.pairs = true, .attention = true}).front();
  std::vector<std::string> words;
  for (const Span& span : result.spans)
    if (span.end > span.begin)
      words.push_back(
          line.substr(static_cast<std::size_t>(span.begin), static_cast<std::size_t>(span.end - span.begin)));
  EXPECT_EQ(std::accumulate(words.begin(), words.end(), std::string()), "NobodyhereUnmarinaio");
}

TEST(Classifier, PairsWithoutATabAndLongTextsAreErrors) {
  const Classifier classifier(bert_fixture("bert_labels"));
  const std::vector<std::string> texts{"one text"};
  EXPECT_ERROR(classifier(texts, {.pairs = true}), "has no tab between");
  EXPECT_ERROR(classifier(texts, {.long_text = LongText::split}), "long_text split is not supported");
  EXPECT_ERROR(classifier(texts, {.max_tokens = 3, .long_text = LongText::error}), "too long");
  EXPECT_EQ(classifier(texts, {.max_tokens = 3}).front().truncated > 0, true);
  EXPECT_ERROR(Classifier(bert_fixture("bert_words")),
               "is a model for masked tokens, expected one for sequence classification");
}

}  // namespace
}  // namespace attend
