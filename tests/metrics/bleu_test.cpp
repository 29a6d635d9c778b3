#include "attend/metrics/bleu.h"

#include <gtest/gtest.h>

#include "attend/core/threads.h"
#include "attend/core/version.h"
#include "tests/support/errors.h"
#include "tests/support/metrics_golden.h"

namespace attend {
namespace {

std::string joined(const std::vector<std::string>& words) {
  std::string text;
  for (const std::string& word : words) text += (text.empty() ? "" : " ") + word;
  return text;
}

BleuScore sentence_bleu(std::string_view hypothesis, std::span<const std::string_view> references) {
  return bleu_score(bleu_statistics(hypothesis, references), /*effective_order=*/true);
}

TEST(Tokenize13a, SeparatesPunctuationAsMtevalDoes) {
  EXPECT_EQ(joined(tokenize_13a("Hello, world!")), "Hello , world !");
  EXPECT_EQ(joined(tokenize_13a("It's 3.14, not 1,000.")), "It's 3.14 , not 1,000 .");
  EXPECT_EQ(joined(tokenize_13a("in 10-20 days a well-known co-op")), "in 10 - 20 days a well-known co-op");
  EXPECT_EQ(joined(tokenize_13a("&quot;A&amp;B&quot; &lt;i&gt;")), "\" A & B \" < i >");
  EXPECT_EQ(joined(tokenize_13a("  a\tb\xC2\xA0 c ")), "a b c");
}

TEST(Tokenize13a, ACharacterBelongsToOnePairOnly) {
  EXPECT_EQ(joined(tokenize_13a("1..")), "1 . .");
  EXPECT_EQ(joined(tokenize_13a("x...")), "x . . .");
  EXPECT_EQ(joined(tokenize_13a("..5")), ". .5");
}

TEST(Tokenize13a, EntitiesAreReplacedInOrderSoAnEscapedOneIsReplacedTwice) {
  EXPECT_EQ(joined(tokenize_13a("&amp;lt;")), "<");
  EXPECT_EQ(joined(tokenize_13a("&amp;quot;")), "& quot ;");
}

TEST(Tokenize13a, EmptyAndInvalidTextsWork) {
  EXPECT_TRUE(tokenize_13a("").empty());
  EXPECT_TRUE(tokenize_13a(" \n").empty());
  EXPECT_EQ(tokenize_13a("\xFF\xC3").size(), 1u);
}

TEST(Bleu, EqualsTheReferenceImplementationForDifficultSentences) {
  const auto sentences = test::scored_sentences();
  for (std::size_t i = 0; i + 1 < sentences.size(); ++i) {
    const test::ScoredSentence& s = sentences[i];
    const std::vector<std::string_view> references(s.references.begin(), s.references.end());
    EXPECT_EQ(joined(tokenize_13a(s.hypothesis)), s.tokens) << "sentence " << i;
    EXPECT_NEAR(sentence_bleu(s.hypothesis, references).score, s.bleu, 1e-9) << s.hypothesis;
    EXPECT_NEAR(sentence_bleu(s.hypothesis, std::span(references).first(1)).score, s.bleu_of_first, 1e-9);
  }
  const auto [hypotheses, references] = test::corpus_of(sentences);
  EXPECT_NEAR(corpus_bleu(hypotheses, references).score, sentences.back().bleu, 1e-9);
  EXPECT_NEAR(corpus_bleu(hypotheses, {references[0]}).score, sentences.back().bleu_of_first, 1e-9);
}

// sacreBLEU's own example with two references, and its published result: 48.530827, "BLEU = 48.53 82.4/50.0/45.5/37.5
// (BP = 0.943 ratio = 0.944 hyp_len = 17 ref_len = 18)".
TEST(Bleu, GivesThePublishedResultOfSacreBleusExample) {
  const std::vector<std::string> hypotheses = {"The dog bit the man.", "It wasn't surprising.",
                                               "The man had just bitten him."};
  const References references = {{"The dog bit the man.", "It was not unexpected.", "The man bit him first."},
                                 {"The dog had bit the man.", "No one was surprised.", "The man had bitten the dog."}};
  const BleuScore bleu = corpus_bleu(hypotheses, references);
  EXPECT_NEAR(bleu.score, 48.530827, 1e-6);
  EXPECT_EQ(bleu.details(), "82.4/50.0/45.5/37.5 (BP = 0.943 ratio = 0.944 hyp_len = 17 ref_len = 18)");
  EXPECT_EQ(corpus_bleu(std::vector<std::string>(3), references).score, 0);
}

// The example of sacreBLEU's metric card at Hugging Face, and its result: 39.76353643835252.
TEST(Bleu, GivesThePublishedResultOfTheMetricCard) {
  const std::vector<std::string> hypotheses = {"hello there general kenobi", "on our way to ankh morpork"};
  const References references = {{"hello there general kenobi", "goodbye ankh morpork"},
                                 {"hello there !", "ankh morpork"}};
  const BleuScore bleu = corpus_bleu(hypotheses, references);
  EXPECT_NEAR(bleu.score, 39.76353643835252, 1e-12);
  EXPECT_EQ(bleu.details(), "60.0/50.0/33.3/25.0 (BP = 1.000 ratio = 1.429 hyp_len = 10 ref_len = 7)");
}

// A published score of sacreBLEU for one sentence, with effective order: 8.493.
TEST(Bleu, GivesThePublishedResultOfASentence) {
  const std::vector<std::string_view> reference = {"producţia de zahăr brut se exprimă în zahăr alb;"};
  const BleuScore bleu =
      sentence_bleu("Producția de zahăr primă va fi exprimată în ceea ce privește zahărul alb;", reference);
  EXPECT_NEAR(bleu.score, 8.493, 5e-4);
}

TEST(Bleu, WithoutAMatchTheScoreIsZero) {
  const std::vector<std::string_view> reference = {"okay thanks"};
  EXPECT_EQ(sentence_bleu("this is a cat", reference).score, 0);
  EXPECT_EQ(sentence_bleu("", reference).score, 0);
}

TEST(Bleu, ShortSentencesNeedEffectiveOrder) {
  const std::vector<std::string_view> reference = {"two words"};
  EXPECT_NEAR(sentence_bleu("two words", reference).score, 100, 1e-9);
  EXPECT_EQ(bleu_score(bleu_statistics("two words", reference)).score, 0);
}

TEST(Bleu, DifferentNumbersOfLinesAreReported) {
  const std::vector<std::string> two = {"a", "b"};
  EXPECT_ERROR(corpus_bleu(two, {{"a", "b", "c"}}), "got 2 hypotheses and 3 references");
  EXPECT_ERROR(corpus_bleu(two, {{"a", "b"}, {"a"}}), "got 2 hypotheses and 1 references");
  EXPECT_ERROR(corpus_bleu(two, {}), "there are no references");
}

TEST(Bleu, TheSignatureContainsTheVersion) {
  EXPECT_EQ(bleu_signature(2), std::string("nrefs:2|case:mixed|eff:no|tok:13a|smooth:exp|version:attend-") + version());
}

TEST(Bleu, AnEmptyCorpusScoresZero) { EXPECT_EQ(corpus_bleu({}, {{}}).score, 0); }

}  // namespace
}  // namespace attend
