#include "attend/metrics/rouge.h"

#include <gtest/gtest.h>

#include "attend/core/json.h"
#include "tests/support/errors.h"
#include "tests/support/temp_folder.h"

namespace attend {
namespace {

const JsonDocument& golden() {
  static const JsonDocument document(test::contents(ATTEND_SOURCE_DIR "/tests/golden/rouge.json"), "rouge.json",
                                     "test");
  return document;
}

RougeScore rouge(Rouge kind, std::string_view summary, std::string_view reference, const RougeOptions& options = {}) {
  return rouge_score(kind, summary, std::span(&reference, 1), options);
}

TEST(Rouge, EqualsTheReferenceImplementationForDifficultTexts) {
  golden().root()["pairs"].each_element([](JsonValue pair) {
    const std::string summary(pair["summary"].string()), reference(pair["reference"].string());
    for (const bool stem : {false, true})
      for (std::size_t i = 0; i < kRouges.size(); ++i)
        EXPECT_NEAR(rouge(kRouges[i], summary, reference, {.stem = stem}).f,
                    pair[stem ? "stemmed" : "plain"][i].number(), 1e-9)
            << name_of(kRouges[i]) << " of \"" << summary << "\" and \"" << reference << '"';
  });
}

TEST(Rouge, StemsWordsAsNltkDoes) {
  golden().root()["stems"].each_member(
      [](std::string_view word, JsonValue stem) { EXPECT_EQ(porter_stem(std::string(word)), stem.string()) << word; });
  EXPECT_EQ(porter_stem(""), "");
  EXPECT_EQ(porter_stem("y"), "y");
}

TEST(Rouge, HasPrecisionAndRecall) {
  const RougeScore score = rouge(Rouge::one, "the cat", "the black cat sleeps");
  EXPECT_NEAR(score.precision, 100, 1e-9);
  EXPECT_NEAR(score.recall, 50, 1e-9);
  EXPECT_NEAR(score.f, 200. / 3, 1e-9);
}

TEST(Rouge, TakesTheBestReference) {
  const std::vector<std::string> summaries{"the cat sleeps", "no"};
  const References references{{"a dog barks", "yes"}, {"the cat eats", "no"}};
  const std::vector<RougeScore> scores = rouge_scores(Rouge::one, summaries, references);
  EXPECT_NEAR(scores[0].f, 200. / 3, 1e-9);
  EXPECT_NEAR(scores[1].f, 100, 1e-9);
  EXPECT_ERROR(rouge_scores(Rouge::one, summaries, {{"one"}}), "rouge");
  EXPECT_ERROR(rouge_score(Rouge::one, "a", {}), "there is no reference");
}

TEST(Rouge, ReadsAllScriptsWhenAsked) {
  EXPECT_EQ(rouge_words("Città 東京, ½ don't"), (std::vector<std::string>{"citt", "don", "t"}));
  EXPECT_EQ(rouge_words("Città 東京, don't", {.unicode = true}),
            (std::vector<std::string>{"città", "東", "京", "don", "t"}));
  EXPECT_EQ(rouge(Rouge::two, "東京都", "東京", {.unicode = true}).recall, 100);
}

}  // namespace
}  // namespace attend
