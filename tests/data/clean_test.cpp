// The cleaning rules: what they drop and what they keep.
#include "attend/data/clean.h"

#include <gtest/gtest.h>

#include <optional>
#include <string>

namespace attend {
namespace {

std::string tidied(std::string text) {
  tidy(text);
  return text;
}

TEST(Tidy, SpacesAndControlsBecomeOneSpaceAndAccentsAreComposed) {
  EXPECT_EQ(tidied("  a\t\n b\xC2\xA0\xE2\x80\x89 c\x01"
                   "d  "),
            "a b c d");
  EXPECT_EQ(tidied("perche\xCC\x81"), "perch\xC3\xA9");
  EXPECT_EQ(tidied(" \n"), "");
  EXPECT_EQ(tidied("\xE0\xA4\x95\xE2\x80\x8D\xE0\xA4\xB7"),
            "\xE0\xA4\x95\xE2\x80\x8D\xE0\xA4\xB7");  // the joiner is kept
}

class Cleaning : public ::testing::Test {
 protected:
  std::optional<DropReason> drop(const std::string& source, const std::string& target) {
    Record record{source, target, 1};
    return cleaner_.drop(record, true);
  }
  Cleaner cleaner_{[] {
    CleanOptions options;
    options.languages = {"en", "ru"};
    return options;
  }()};
};

TEST_F(Cleaning, EachRuleDropsItsRecordAndCountsIt) {
  EXPECT_EQ(drop("hello", "привет"), std::nullopt);
  EXPECT_EQ(drop("hello", " \t"), DropReason::empty);
  EXPECT_EQ(drop("hello\xEF\xBF\xBD", "привет"), DropReason::garbled);
  EXPECT_EQ(drop(std::string(501, 'a'), "привет"), DropReason::too_long);
  EXPECT_EQ(drop("hi", "это очень длинный перевод такого короткого слова"), DropReason::length_ratio);
  EXPECT_EQ(drop("Linux", "Linux"), DropReason::identical);
  EXPECT_EQ(drop("<b>hello</b>", "<b>привет</b>"), DropReason::markup);
  EXPECT_EQ(drop("%s files", "файлов"), DropReason::placeholders);
  EXPECT_EQ(drop("hello you", "privet tebe"), DropReason::script);
  EXPECT_EQ(drop(" hello ", "привет"), DropReason::duplicate);
  EXPECT_EQ(drop("%s files", "%s файлов"), std::nullopt);
  EXPECT_EQ(drop("&lt;b&gt;you", "&lt;b&gt;ты"), DropReason::markup);
  EXPECT_EQ(drop("Q&amp;A", "Вопросы"), std::nullopt);
  for (std::size_t reason = 0; reason < kDropReasons; ++reason)
    EXPECT_GE(cleaner_.dropped(static_cast<DropReason>(reason)), 1) << name_of(static_cast<DropReason>(reason));
  EXPECT_EQ(cleaner_.dropped(), 10);
}

TEST(Cleaner, EachRuleCanBeSwitchedOff) {
  CleanOptions off;
  off.garbled = off.identical = false;
  off.max_length = 0;
  off.max_ratio = off.min_script = 0;
  off.markup = CleanOptions::Markup::keep;
  off.placeholders = CleanOptions::Placeholders::keep;
  off.duplicates = CleanOptions::Duplicates::keep;
  off.languages = {"en", "ru"};
  Cleaner cleaner(off);
  Record record;
  for (const char* source : {"a\xEF\xBF\xBD", "<b>", "%s", "%s"}) {
    record = {source, "%d" + std::string(3000, 'x'), 1};
    EXPECT_EQ(cleaner.drop(record, true), std::nullopt) << source;
  }
  record = {"same", "same", 1};
  EXPECT_EQ(cleaner.drop(record, true), std::nullopt);
}

TEST(Cleaner, TextsWithoutTargetsAreCheckedAlone) {
  Cleaner cleaner({});
  Record record{"one text", "", 1};
  EXPECT_EQ(cleaner.drop(record, false), std::nullopt);
  EXPECT_EQ(cleaner.drop(record, false), DropReason::duplicate);
}

TEST(Cleaner, OneTranslationForEachSourceWhenAsked) {
  CleanOptions options;
  options.duplicates = CleanOptions::Duplicates::source;
  Cleaner cleaner(options);
  Record first{"hello", "ciao", 1}, second{"hello", "salve", 2};
  EXPECT_EQ(cleaner.drop(first, true), std::nullopt);
  EXPECT_EQ(cleaner.drop(second, true), DropReason::duplicate);
}

TEST(LengthRatio, CountsIdeographsAsTwoAndForgivesShortTexts) {
  EXPECT_LT(length_ratio("OK", "Va bene"), 1.5);
  EXPECT_NEAR(length_ratio("abcdefghij", "\xE6\xBC\xA2\xE6\xBC\xA2\xE6\xBC\xA2\xE6\xBC\xA2\xE6\xBC\xA2"), 1, 1e-9);
}

}  // namespace
}  // namespace attend
