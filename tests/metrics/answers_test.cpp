// The scores of many answers are compared with those of tests/golden/answers.py.
#include "attend/metrics/answers.h"

#include <gtest/gtest.h>

#include "attend/core/json.h"
#include "tests/support/errors.h"
#include "tests/support/temp_folder.h"

namespace attend {
namespace {

using Texts = std::vector<std::string>;

TEST(Answers, ScoresAreThoseOfTheReferenceImplementation) {
  const JsonDocument golden(test::contents(ATTEND_SOURCE_DIR "/tests/golden/answers.json"), "answers.json", "test");
  std::int64_t cases = 0;
  golden.root().each_element([&](JsonValue c) {
    const AnswerRules rules = answer_rules(c["language"].string());
    Texts references, words;
    c["references"].each_element([&](JsonValue text) { references.emplace_back(text.string()); });
    c["words"].each_element([&](JsonValue text) { words.emplace_back(text.string()); });
    const std::string prediction(c["prediction"].string());
    EXPECT_EQ(answer_words(prediction, rules), words) << prediction;
    const AnswerScore score = score_answer(prediction, references, rules);
    EXPECT_EQ(score.exact, c["exact"].number()) << prediction;
    EXPECT_NEAR(score.f1, c["f1"].number(), 1e-12) << prediction;
    ++cases;
  });
  EXPECT_GT(cases, 200);
}

TEST(Answers, CasePunctuationAndArticlesDoNotCount) {
  EXPECT_EQ(score_answer("the Cat.", Texts{"A cat"}).exact, 1);
  EXPECT_EQ(score_answer("l'acqua", Texts{"Acqua"}, answer_rules("it")).exact, 1);
  EXPECT_EQ(score_answer("l'acqua", Texts{"Acqua"}).exact, 0);
  EXPECT_EQ(answer_words("Theory of the “an” hour"), (Texts{"theory", "of", "“", "”", "hour"}));
}

TEST(Answers, TheBestReferenceCounts) {
  const AnswerScore score = score_answer("in October 1973", Texts{"1973", "October 1973"});
  EXPECT_EQ(score.exact, 0);
  EXPECT_DOUBLE_EQ(score.f1, 0.8);
}

TEST(Answers, WithoutAnAnswerOnlyAnEmptyPredictionIsRight) {
  EXPECT_EQ(score_answer("", Texts{}).f1, 1);
  EXPECT_EQ(score_answer("", Texts{}).exact, 1);
  EXPECT_EQ(score_answer("Rome", Texts{}).f1, 0);
  EXPECT_EQ(score_answer("", Texts{"Rome"}).f1, 0);
  EXPECT_EQ(score_answer("", Texts{"the", "Rome"}).f1, 0);  // references without words do not count
  EXPECT_EQ(score_answer("", Texts{"the"}).f1, 1);
}

TEST(Answers, MeansAreFractions) {
  AnswerScores scores;
  EXPECT_EQ(scores.exact_match(), 0);
  scores.add({1, 1}), scores.add({0, 0.5});
  EXPECT_EQ(scores.exact_match(), 0.5);
  EXPECT_EQ(scores.mean_f1(), 0.75);
}

TEST(Answers, LanguagesAreKnownByTheirCodes) {
  EXPECT_EQ(answer_rules("it-CH").articles, answer_rules("it").articles);
  EXPECT_TRUE(answer_rules("zh_TW").characters);
  EXPECT_ERROR(answer_rules("xx"), "the articles of the language \"xx\" are not known; expected one of de, en, es");
}

}  // namespace
}  // namespace attend
