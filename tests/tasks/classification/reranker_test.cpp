// The scores of a cross-encoder are compared with those of transformers (tests/golden/bert_uses.py).
#include "attend/tasks/classification/reranker.h"

#include <gtest/gtest.h>

#include <cmath>

#include "tests/support/errors.h"
#include "tests/tasks/bert_fixture.h"

namespace attend {
namespace {

using test::bert_fixture;
using test::Expected;

TEST(Reranker, GivesTheLogitsOfTransformers) {
  const Reranker reranker(bert_fixture("cross_encoder"));
  const Expected expected("cross_encoder");
  const std::string query(expected["query"].string());
  const std::vector<float> wanted = test::numbers(expected["logits"]);
  for (const std::int64_t batch_tokens : {0, 1}) {
    const Relevance found = reranker(query, expected.texts(), {.batch_tokens = batch_tokens});
    ASSERT_EQ(found.logits.size(), wanted.size());
    for (std::size_t i = 0; i < wanted.size(); ++i) {
      EXPECT_NEAR(found.logits[i], wanted[i], 1e-5) << i;
      EXPECT_NEAR(found.scores[i], 1 / (1 + std::exp(-wanted[i])), 1e-5) << i;
    }
    EXPECT_EQ(found.truncated, 0);
  }
  EXPECT_TRUE(reranker(query, {}).scores.empty());
  EXPECT_GT(reranker(query, expected.texts(), {.max_tokens = 16}).truncated, 0);
}

TEST(Reranker, AClassifierWithSeveralLabelsIsAnError) {
  EXPECT_ERROR(Reranker(bert_fixture("bert_labels")), "3 labels, expected a cross-encoder with one");
}

}  // namespace
}  // namespace attend
