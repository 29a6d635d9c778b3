#include "attend/metrics/chrf.h"

#include <gtest/gtest.h>

#include "attend/core/version.h"
#include "tests/support/errors.h"
#include "tests/support/metrics_golden.h"

namespace attend {
namespace {

double chrf(std::string_view hypothesis, std::string_view reference, const ChrfOptions& options = {}) {
  return chrf_score(chrf_statistics(hypothesis, std::span(&reference, 1), options), options);
}

TEST(Chrf, EqualsTheReferenceImplementationForDifficultSentences) {
  const auto sentences = test::scored_sentences();
  for (std::size_t i = 0; i + 1 < sentences.size(); ++i) {
    const test::ScoredSentence& s = sentences[i];
    const std::vector<std::string_view> references(s.references.begin(), s.references.end());
    EXPECT_NEAR(chrf_score(chrf_statistics(s.hypothesis, references)), s.chrf, 1e-9) << s.hypothesis;
    const ChrfOptions plus{.words = 2};
    EXPECT_NEAR(chrf_score(chrf_statistics(s.hypothesis, references, plus), plus), s.chrf_plus, 1e-9) << s.hypothesis;
  }
  const auto [hypotheses, references] = test::corpus_of(sentences);
  EXPECT_NEAR(corpus_chrf(hypotheses, references), sentences.back().chrf, 1e-9);
  EXPECT_NEAR(corpus_chrf(hypotheses, references, {.words = 2}), sentences.back().chrf_plus, 1e-9);
}

// Sentences and expected scores of sacreBLEU's own tests.
TEST(Chrf, GivesThePublishedResultsOfSacreBleusTests) {
  const char* german = "Das Verhältnis zwischen Obama und Netanyahu ist nicht gerade freundschaftlich.";
  EXPECT_NEAR(
      chrf(" Die    Beziehung zwischen  Obama und Netanjahu ist nicht gerade  freundlich. ", german, {.beta = 3}),
      64.1302698, 1e-4);
  EXPECT_NEAR(chrf("Die Beziehung zwischen Obama und Netanjahu ist nicht gerade freundlich.", german,
                   {.beta = 3, .white_space = true}),
              67.3481606, 1e-6);
  EXPECT_NEAR(corpus_chrf(std::vector<std::string>{"a", "b"}, {{"a", "c"}}, {.beta = 3}), 50, 1e-9);
  EXPECT_NEAR(chrf("aa", "ab", {.beta = 3}), 25, 1e-9);
  EXPECT_NEAR(chrf("a b c", "abc", {.beta = 3}), 100, 1e-9);
}

// The example of chrF's metric card at Hugging Face, and its results.
TEST(Chrf, GivesThePublishedResultsOfTheMetricCard) {
  const std::vector<std::string> hypotheses = {"The relationship between cats and dogs is not exactly friendly.",
                                               "a good bookshop is just a genteel black hole that knows how to read."};
  const References references = {{"The relationship between dogs and cats is not exactly friendly.",
                                  "A good bookshop is just a genteel Black Hole that knows how to read."}};
  EXPECT_NEAR(corpus_chrf(hypotheses, references), 84.64214891738334, 1e-12);
  EXPECT_NEAR(corpus_chrf(hypotheses, references, {.words = 2}), 82.87263732906315, 1e-12);
}

TEST(Chrf, IsBetweenZeroAndAHundred) {
  EXPECT_NEAR(chrf("Joe ama la pizza.", "Joe ama la pizza."), 100, 1e-9);
  EXPECT_EQ(chrf("abc", "xyz"), 0);
  EXPECT_EQ(chrf("", "xyz"), 0);
  EXPECT_EQ(chrf("abc", ""), 0);
  EXPECT_EQ(chrf("", ""), 0);
}

TEST(Chrf, InvalidBytesAreTreatedAsReplacementCharacters) { EXPECT_NEAR(chrf("a\xFF", "a\xEF\xBF\xBD"), 100, 1e-9); }

TEST(Chrf, NameAndSignatureContainTheOptions) {
  EXPECT_EQ(chrf_name(), "chrF2");
  EXPECT_EQ(chrf_name({.words = 2}), "chrF2++");
  EXPECT_EQ(chrf_signature(1),
            std::string("nrefs:1|case:mixed|eff:yes|nc:6|nw:0|space:no|version:attend-") + version());
}

TEST(Chrf, InvalidOrdersAreRefused) {
  EXPECT_ERROR(chrf("a", "a", {.characters = 0}), "[chrf] invalid n-gram orders");
  EXPECT_ERROR(chrf("a", "a", {.characters = 15, .words = 2}), "at most 16");
  EXPECT_ERROR(corpus_chrf(std::vector<std::string>{"a"}, {{}}), "got 1 hypotheses and 0 references");
}

}  // namespace
}  // namespace attend
