// The rules of cleaning, what they drop and what they must not, and what texts of programs carry besides words.
#include "attend/data/clean.h"

#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <vector>

#include "attend/data/message_text.h"
#include "tests/data/support.h"

namespace attend {
namespace {

using Words = std::vector<std::string>;

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
            "\xE0\xA4\x95\xE2\x80\x8D\xE0\xA4\xB7");  // the joiner stays
}

TEST(Placeholders, AreFoundWhateverTheirStyle) {
  EXPECT_EQ(placeholders_of("%s has %-5.2lf, %1$s %(name)s %i %<PRIu64>"),
            (Words{"%(name)s", "%1$s", "%<PRIu64>", "%d", "%f", "%s"}));
  EXPECT_EQ(placeholders_of("{} {0} {name:>5} ${home}"), (Words{"{0}", "{home}", "{name:>5}", "{}"}));
  EXPECT_EQ(placeholders_of("100% of 50 % di %% { not one }"), Words{});
  EXPECT_EQ(placeholders_of("%"), Words{});
}

TEST(Markup, TagsCountButNotComparisons) {
  for (const char* text : {"<b>x</b>", "a<br/>", "</p>", "<!-- x -->", "<a href='x'>y"})
    EXPECT_TRUE(has_tags(text)) << text;
  for (const char* text : {"a < b", "1 <2> 3", "x > y", "<", "<3", "<a <b", "&lt;b&gt;"})
    EXPECT_FALSE(has_tags(text)) << text;
  EXPECT_EQ(without_tags("<b>a</b> <3 <i>b<br/>"), "a <3 b");
}

TEST(Markup, EntitiesBecomeTheirCharacters) {
  EXPECT_EQ(with_entities_decoded("R&amp;D &#xE8; &#232;&lt;"), "R&D \xC3\xA8 \xC3\xA8<");
  for (const char* text : {"AT&T; no", "R&D", "&", "&;", "&#;", "&#xD800;", "&#99999999;", "&unknown;"})
    EXPECT_EQ(with_entities_decoded(text), text);
}

std::pair<std::string, std::string> without_accelerators(std::string source, std::string target) {
  remove_accelerators(source, target);
  return {source, target};
}
using Two = std::pair<std::string, std::string>;

TEST(Accelerators, AreRemovedFromLabelsButNotFromNames) {
  EXPECT_EQ(without_accelerators("_File", "_Documento"), (Two{"File", "Documento"}));
  EXPECT_EQ(without_accelerators("E_xit now", "Esci _ora"), (Two{"Exit now", "Esci ora"}));
  EXPECT_EQ(without_accelerators("&Open", "A&pri"), (Two{"Open", "Apri"}));
  EXPECT_EQ(without_accelerators("_File", "\xE6\x96\x87\xE4\xBB\xB6(_F)"), (Two{"File", "\xE6\x96\x87\xE4\xBB\xB6"}));
  EXPECT_EQ(without_accelerators("_Help", "Aiuto"), (Two{"Help", "Aiuto"}));
  EXPECT_EQ(without_accelerators("set foo_bar first", "prima imposta foo_bar"),
            (Two{"set foo_bar first", "prima imposta foo_bar"}));
  EXPECT_EQ(without_accelerators("AT&T office", "ufficio AT&T"), (Two{"AT&T office", "ufficio AT&T"}));
  EXPECT_EQ(without_accelerators("a_b c_d", "x"), (Two{"a_b c_d", "x"}));
  EXPECT_EQ(without_accelerators("rock & roll", "rock & roll!"), (Two{"rock & roll", "rock & roll!"}));
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

TEST_F(Cleaning, EachRuleDropsItsOwnAndCountsIt) {
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

TEST(Cleaner, TextsWithoutTargetsAreJudgedAlone) {
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

TEST(Language, CodesMatchByTheirBeginning) {
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
