#include "attend/metrics/classification.h"

#include <gtest/gtest.h>

#include "tests/support/errors.h"

namespace attend {
namespace {

using Labels = std::vector<std::string>;

// Expected: cat 2 correct of 3 references and 3 predictions, dog 1 of 2 and 2, owl 1 of 1 and 1.
TEST(Classification, ComputesScoresOfLabelsAndAverages) {
  const ClassificationScores scores = classification_scores(Labels{"cat", "cat", "dog", "cat", "dog", "owl"},
                                                            Labels{"cat", "cat", "cat", "dog", "dog", "owl"});
  EXPECT_DOUBLE_EQ(scores.accuracy(), 4. / 6);
  EXPECT_DOUBLE_EQ(scores.micro_f1(), scores.accuracy());
  EXPECT_DOUBLE_EQ(scores.macro_f1(), (2. / 3 + 1. / 2 + 1) / 3);
  ASSERT_EQ(scores.labels.size(), 3u);
  EXPECT_EQ(scores.labels[0].label, "cat");
  EXPECT_DOUBLE_EQ(scores.labels[0].precision(), 2. / 3);
  EXPECT_DOUBLE_EQ(scores.labels[0].recall(), 2. / 3);
  EXPECT_EQ(scores.confusion, (std::vector<std::vector<std::int64_t>>{{2, 1, 0}, {1, 1, 0}, {0, 0, 1}}));
}

TEST(Classification, ALabelWithoutPredictionsOrReferencesLowersTheMacroAverage) {
  const ClassificationScores scores = classification_scores(Labels{"a", "a", "c"}, Labels{"a", "b", "a"});
  ASSERT_EQ(scores.labels.size(), 3u);
  EXPECT_DOUBLE_EQ(scores.labels[1].f1(), 0);
  EXPECT_DOUBLE_EQ(scores.labels[1].precision(), 0);
  EXPECT_DOUBLE_EQ(scores.labels[2].recall(), 0);
  EXPECT_DOUBLE_EQ(scores.macro_f1(), 0.5 / 3);
}

TEST(Classification, EmptyInputScoresZeroAndDifferentNumbersAreReported) {
  EXPECT_EQ(classification_scores({}, {}).accuracy(), 0);
  EXPECT_EQ(classification_scores({}, {}).macro_f1(), 0);
  EXPECT_ERROR(classification_scores(Labels{"a"}, Labels{"a", "b"}), "got 1 predictions and 2 references");
}

}  // namespace
}  // namespace attend
