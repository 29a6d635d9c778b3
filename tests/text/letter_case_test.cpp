#include "attend/text/letter_case.h"

#include <gtest/gtest.h>

namespace attend {
namespace {

TEST(LetterCase, IsThatOfTheLettersAlone) {
  for (const char* lower : {"", "gas", "12:30", "…", "中文", "été", "ﬁsh"})
    EXPECT_EQ(letter_case(lower), LetterCase::lower);
  for (const char* capitalized : {"Gas", "A", "\"Hello", "Été", "3Com"})
    EXPECT_EQ(letter_case(capitalized), LetterCase::capitalized) << capitalized;
  for (const char* upper : {"FERC", "eBay", "McKinsey", "ÉTÉ"})
    EXPECT_EQ(letter_case(upper), LetterCase::upper) << upper;
}

TEST(LetterCase, IsAddedToTheIdsOfTokensByTheirPlacesInTheText) {
  Encoding encoding;
  encoding.ids = {3, 4, 5, 0}, encoding.spans = {{0, 3}, {3, 6}, {7, 11}, {11, 11}}, encoding.special = {0, 0, 0, 1};
  EXPECT_EQ(ids_with_case(encoding, "Aftgas FERC", 10), (std::vector<std::int32_t>{13, 4, 25, 0}));
  EXPECT_EQ(ids_with_case(encoding, "Aftgas FERC", 0), encoding.ids);
}

TEST(RestoreCase, WritesWordsAsTheTextDoesMostOften) {
  EXPECT_EQ(restore_case("new ferc rules", "The FERC has rules."), "new FERC rules");
  EXPECT_EQ(restore_case("the power (us-east): été", "Power for US-East. Été! Power, The power, the THE the"),
            "the Power (US-East): Été");
  EXPECT_EQ(restore_case("gas", "Gas or gas"), "Gas");
  EXPECT_EQ(restore_case("", "Text"), "");
  EXPECT_EQ(restore_case("words", ""), "words");
}

}  // namespace
}  // namespace attend
