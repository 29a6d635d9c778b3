// Language codes and scripts.
#include "attend/data/language.h"

#include <gtest/gtest.h>

#include <vector>

namespace attend {
namespace {

TEST(Language, CodesMatchByPrefix) {
  EXPECT_TRUE(language_matches("en", "EN_us"));
  EXPECT_TRUE(language_matches("pt-BR", "pt_br"));
  EXPECT_FALSE(language_matches("en-US", "en"));
  EXPECT_FALSE(language_matches("en", "eng"));
}

TEST(Language, ScriptsOfSomeLanguages) {
  EXPECT_EQ(scripts_of_language("it-IT"), (std::vector<Script>{Script::latin}));
  EXPECT_EQ(scripts_of_language("sr@latin"), (std::vector<Script>{Script::latin}));
  EXPECT_EQ(scripts_of_language("uz_Cyrl"), (std::vector<Script>{Script::cyrillic}));
  EXPECT_TRUE(scripts_of_language("xx").empty());
  EXPECT_EQ(script_of(U'è'), Script::latin);
  EXPECT_EQ(script_of(U'ж'), Script::cyrillic);
  EXPECT_EQ(script_of(U'漢'), Script::han);
  EXPECT_EQ(script_of(U'カ'), Script::kana);
  EXPECT_EQ(script_of(U'7'), Script::none);
  EXPECT_EQ(script_of(0x10FFFF), Script::none);
  EXPECT_DOUBLE_EQ(share_in_scripts("abж 123", {Script::cyrillic}), 1.0 / 3);
  EXPECT_DOUBLE_EQ(share_in_scripts("123", {Script::cyrillic}), 1);
}

}  // namespace
}  // namespace attend
