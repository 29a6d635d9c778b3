#include "attend/tasks/summarization/consensus.h"

#include <gtest/gtest.h>

#include <vector>

#include "tests/support/errors.h"

namespace attend {
namespace {

std::size_t chosen(const std::vector<std::string>& texts, const std::vector<double>& probabilities) {
  return consensus(texts, probabilities);
}

TEST(Consensus, ChoosesTheTextThatSharesMostWithTheOthers) {
  EXPECT_EQ(
      chosen({"board meeting", "gas contract", "contract with tenaska", "gas contract with tenaska"}, {1, 1, 1, 1}),
      3u);
  EXPECT_EQ(chosen({"new contract", "old contracts", "a day off"}, {0.3, 0.3, 0.4}), 0u);  // contract is contracts
}

TEST(Consensus, AProbableTextWinsAloneAndTheFirstOfEqualOnes) {
  EXPECT_EQ(chosen({"gas contract", "contract", "board meeting"}, {0.1, 0.1, 0.8}), 2u);
  EXPECT_EQ(chosen({"meeting", "meeting"}, {0.2, 0.7}), 0u);
  EXPECT_EQ(chosen({"…", "?"}, {1, 1}), 0u);
  EXPECT_ERROR(chosen({}, {}), "at least one text");
}

}  // namespace
}  // namespace attend
