#include "attend/tasks/summarization/gap_sentence.h"

#include <gtest/gtest.h>

namespace attend {
namespace {

TEST(GapSentence, IsTheOneWithMostWordsInCommonWithTheOthers) {
  const auto gap = gap_sentence("Hello all. The king has a red hat. My king lost the hat. See you.");
  ASSERT_TRUE(gap);
  EXPECT_EQ(gap->sentence, "The king has a red hat.");
  EXPECT_EQ(gap->rest, "Hello all. My king lost the hat. See you.");
}

TEST(GapSentence, TheFirstOfEqualSentencesIsTakenOut) {
  const auto gap = gap_sentence("One two. Three four! Five six.");
  ASSERT_TRUE(gap);
  EXPECT_EQ(gap->sentence, "One two.");
  EXPECT_EQ(gap->rest, "Three four! Five six.");
}

TEST(GapSentence, ARepeatedWordCountsAsOftenAsTheOthersHaveIt) {
  const auto gap = gap_sentence("Cat cat cat cat. A dog and a cat. A dog is a dog.");
  ASSERT_TRUE(gap);
  EXPECT_EQ(gap->sentence, "A dog and a cat.");
}

TEST(GapSentence, WordsMayBeOfAnyScript) {
  const auto gap = gap_sentence("Привет всем. Король носит шляпу. Шляпа у короля. Король носит корону.");
  ASSERT_TRUE(gap);
  EXPECT_EQ(gap->sentence, "Король носит шляпу.");
}

TEST(GapSentence, TextsWithoutTwoSentencesOfWordsHaveNone) {
  for (const char* text : {"", " \n", "Only one sentence here.", "...! ?!", "Words here. ...!"})
    EXPECT_FALSE(gap_sentence(text)) << text;
}

}  // namespace
}  // namespace attend
