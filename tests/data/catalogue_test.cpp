// gettext: .po and .mo, plural forms, charsets, the search for catalogues, and damaged files.
#include "attend/data/catalogue.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "tests/data/support.h"
#include "tests/support/errors.h"
#include "tests/support/temp_folder.h"

namespace attend {
namespace {

using test::pairs_of;
using test::skipped_of;
using Pairs = std::vector<test::Pair>;

const std::string kItalianHeader =
    "msgid \"\"\nmsgstr \"\"\n\"Content-Type: text/plain; charset=UTF-8\\n\"\n"
    "\"Plural-Forms: nplurals=2; plural=(n != 1);\\n\"\n\n";

TEST(Po, ReadsMessagesWithEscapesAndContinuations) {
  const std::string text = kItalianHeader +
                           "# comment\n#: file.c:1\n#, c-format\nmsgctxt \"menu\"\nmsgid \"one \"\n\"two\"\n"
                           "msgstr \"uno\\n\"\n\"\\\"due\\\"\\t\\101\\x42\"\n"
                           "msgid\"a\"\nmsgstr \"b\"\n";
  EXPECT_EQ(pairs_of(read_po(TextStream::of(text))), (Pairs{{"one two", "uno\n\"due\"\tAB"}, {"a", "b"}}));
}

TEST(Po, CountsFuzzyObsoleteAndUntranslated) {
  const std::string text = kItalianHeader +
                           "#, fuzzy\n#| msgid \"old\"\nmsgid \"f\"\nmsgstr \"F\"\n\nmsgid \"u\"\nmsgstr \"\"\n\n"
                           "#, fuzzy\n#~ msgid \"o\"\n#~ msgstr \"O\"\n\nmsgid \"k\"\nmsgstr \"K\"\n";
  const auto reader = read_po(TextStream::of(text));
  EXPECT_EQ(pairs_of(reader), (Pairs{{"k", "K"}}));
  EXPECT_EQ(skipped_of(*reader, "fuzzy"), 1);
  EXPECT_EQ(skipped_of(*reader, "obsolete"), 1);
  EXPECT_EQ(skipped_of(*reader, "untranslated"), 1);
}

TEST(Po, PluralsPairSingularWithTheFormForOne) {
  const std::string plural = "msgid \"%d file\"\nmsgid_plural \"%d files\"\n";
  EXPECT_EQ(pairs_of(read_po(
                TextStream::of(kItalianHeader + plural + "msgstr[0] \"%d documento\"\nmsgstr[1] \"%d documenti\"\n"))),
            (Pairs{{"%d file", "%d documento"}, {"%d files", "%d documenti"}}));
  // In Slovenian, the form for one thing is the second.
  const std::string slovenian =
      "msgid \"\"\nmsgstr \"Plural-Forms: nplurals=4; plural=(n%100==1 ? 1 : n%100==2 ? 2 : n%100==3 || n%100==4 ? 3 : "
      "0);\\n\"\n";
  EXPECT_EQ(pairs_of(read_po(TextStream::of(slovenian + plural +
                                            "msgstr[0] \"a\"\nmsgstr[1] \"b\"\nmsgstr[2] \"c\"\nmsgstr[3] \"d\"\n"))),
            (Pairs{{"%d file", "b"}, {"%d files", "a"}, {"%d files", "c"}, {"%d files", "d"}}));
  // Japanese has one form for all.
  EXPECT_EQ(pairs_of(read_po(TextStream::of(plural + "msgstr[0] \"j\"\n"))),
            (Pairs{{"%d file", "j"}, {"%d files", "j"}}));
}

TEST(Po, IsConvertedFromItsDeclaredCharset) {
  const std::string text =
      "msgid \"\"\nmsgstr \"Content-Type: text/plain; charset=ISO-8859-1\\n\"\n\nmsgid \"why\"\nmsgstr \"perch\xE9\"\n";
  EXPECT_EQ(pairs_of(read_po(TextStream::of(text))), (Pairs{{"why", "perch\xC3\xA9"}}));
  // In Big5 the second byte of a character may be a backslash.
  const std::string big5 = "msgid \"\"\nmsgstr \"charset=BIG5\\n\"\nmsgid \"merit\"\nmsgstr \"\xA5\x5C\"\n";
  EXPECT_EQ(pairs_of(read_po(TextStream::of(big5))), (Pairs{{"merit", "\xE5\x8A\x9F"}}));
}

TEST(Po, ErrorsHaveTheLine) {
  EXPECT_ERROR(pairs_of(read_po(TextStream::of("msgid \"a\nmsgstr \"b\"\n", "x.po"))),
               "x.po:1: a string has no closing quote");
  EXPECT_ERROR(pairs_of(read_po(TextStream::of("\n\"lost\"\n", "x.po"))), "x.po:2: a string belongs to no keyword");
  EXPECT_ERROR(pairs_of(read_po(TextStream::of("<html>\n", "x.po"))), "got \"<html>\"");
  EXPECT_ERROR(pairs_of(read_po(TextStream::of("msgid \"a\"\nmsgstr[99] \"b\"\n", "x.po"))),
               "no such plural form: msgstr[99]");
}

TEST(Plural, ExpressionsAreEvaluatedAsInC) {
  EXPECT_EQ(evaluate_plural("n != 1", 1), 0);
  EXPECT_EQ(evaluate_plural("(n != 1)", 5), 1);
  const char* russian = "(n%10==1 && n%100!=11 ? 0 : n%10>=2 && n%10<=4 && (n%100<10 || n%100>=20) ? 1 : 2)";
  EXPECT_EQ(evaluate_plural(russian, 21), 0);
  EXPECT_EQ(evaluate_plural(russian, 13), 2);
  EXPECT_EQ(evaluate_plural(russian, 33), 1);
  EXPECT_EQ(evaluate_plural("1 + 2 * 3 - !n", 0), 6);
  for (const char* wrong : {"", "n n", "n %", "n % 0", "(n", "x", "n ? 1"})
    EXPECT_EQ(evaluate_plural(wrong, 1), -1) << wrong;
  EXPECT_EQ(evaluate_plural(std::string(100'000, '('), 1), -1);
}

/// A .mo file of some messages, in this or the other byte order.
std::string mo_file(const std::vector<std::pair<std::string, std::string>>& messages, bool swapped = false) {
  std::string file;
  const auto number = [&](std::size_t value) {
    for (int i = 0; i < 4; ++i) file += static_cast<char>(value >> 8 * (swapped ? 3 - i : i) & 0xFF);
  };
  const std::size_t n = messages.size();
  std::size_t offset = 28 + 16 * n;
  for (const std::size_t value :
       {std::size_t{0x950412DE}, std::size_t{0}, n, std::size_t{28}, 28 + 8 * n, std::size_t{0}, offset})
    number(value);
  for (const bool target : {false, true})
    for (const auto& [id, translation] : messages) {
      const std::size_t size = (target ? translation : id).size();
      number(size), number(offset);
      offset += size + 1;
    }
  for (const bool target : {false, true})
    for (const auto& [id, translation] : messages) file += (target ? translation : id) + '\0';
  return file;
}

TEST(Mo, BothByteOrdersAreTheSame) {
  const std::vector<std::pair<std::string, std::string>> messages = {
      {"", "Content-Type: text/plain; charset=ISO-8859-1\nPlural-Forms: nplurals=2; plural=n!=1;\n"},
      {std::string("%d day\0%d days", 14), std::string("%d giorno\0%d giorni", 19)},
      {"menu\4"
       "why",
       "perch\xE9"},
      {"no", ""}};
  for (const bool swapped : {false, true}) {
    const std::string file = mo_file(messages, swapped);
    const auto reader = read_mo(file, "x.mo");
    EXPECT_EQ(pairs_of(reader), (Pairs{{"%d day", "%d giorno"}, {"%d days", "%d giorni"}, {"why", "perch\xC3\xA9"}}));
    EXPECT_EQ(skipped_of(*reader, "untranslated"), 1);
  }
}

TEST(Mo, OffsetsOutsideTheFileAreErrors) {
  const std::string good = mo_file({{"a", "b"}, {"c", "d"}});
  for (std::size_t cut = 0; cut < good.size() - 2; ++cut)
    EXPECT_NE(test::error_of([&] { (void)pairs_of(read_mo(std::string_view(good).substr(0, cut), "x.mo")); }), "")
        << cut;
  for (std::size_t at = 8; at < 60; at += 4) {
    std::string bad = good;
    bad.replace(at, 4, "\xFF\xFF\xFF\x7F");
    if (at >= 20 && at < 28) continue;  // the hash table, which is not read
    EXPECT_NE(test::error_of([&] { (void)pairs_of(read_mo(bad, "x.mo")); }), "") << at;
  }
  EXPECT_ERROR(read_mo(std::string(40, 'x'), "x.mo"), "x.mo: is not a .mo file");
}

TEST(Mo, OverlappingMessagesAreAnError) {
  std::string file = mo_file(std::vector<std::pair<std::string, std::string>>(1000, {"a", "b"}));
  for (std::size_t i = 0; i < 2000; ++i) {  // each string is the whole file
    const std::uint32_t size = static_cast<std::uint32_t>(file.size());
    for (std::size_t k = 0; k < 4; ++k)
      file[28 + 8 * i + k] = static_cast<char>(size >> 8 * k & 0xFF), file[32 + 8 * i + k] = 0;
  }
  EXPECT_ERROR(pairs_of(read_mo(file, "x.mo")), "its messages overlap");
}

class Catalogues : public ::testing::Test {
 protected:
  void add(const std::string& path, const std::string& id, const std::string& translation) {
    std::filesystem::create_directories((folder_ / path).parent_path());
    std::ofstream(folder_ / path) << "msgid \"" << id << "\"\nmsgstr \"" << translation << "\"\n";
  }
  std::vector<std::string> found(const Languages& languages) {
    std::vector<std::string> names;
    for (const CatalogueFiles& files : find_catalogues({folder_.path()}, languages))
      names.push_back(std::filesystem::relative(files.target, folder_.path()).string());
    return names;
  }
  test::TempFolder folder_;
};
using Names = std::vector<std::string>;

TEST_F(Catalogues, AreFoundByFolderAndByName) {
  add("it/LC_MESSAGES/a.po", "x", "y");
  add("it_IT/LC_MESSAGES/b.po", "x", "y");
  add("it_CH/LC_MESSAGES/c.po", "x", "y");
  add("de/LC_MESSAGES/a.po", "x", "y");
  add("program/po/it.po", "x", "y");
  add("zh_CN/LC_MESSAGES/a.po", "x", "y");
  add("zh_TW/LC_MESSAGES/a.po", "x", "y");
  EXPECT_EQ(found({"en", "it"}), (Names{"it/LC_MESSAGES/a.po", "it_IT/LC_MESSAGES/b.po", "program/po/it.po"}));
  EXPECT_EQ(found({"en", "it_CH"}), (Names{"it_CH/LC_MESSAGES/c.po"}));
  EXPECT_EQ(found({"", "zh"}), (Names{"zh_CN/LC_MESSAGES/a.po", "zh_TW/LC_MESSAGES/a.po"}));
  EXPECT_EQ(found({"", "fr"}), Names{});
}

TEST_F(Catalogues, OfTwoLanguagesAreJoinedByMessage) {
  add("it/LC_MESSAGES/a.po", "hello", "ciao");
  add("de/LC_MESSAGES/a.po", "hello", "hallo");
  add("it/LC_MESSAGES/only.po", "x", "y");
  const auto files = find_catalogues({folder_.path()}, {"de", "it"});
  ASSERT_EQ(files.size(), 1U);
  EXPECT_EQ(pairs_of(join_catalogues(open_catalogue(files[0].source), open_catalogue(files[0].target))),
            (Pairs{{"hallo", "ciao"}}));
}

}  // namespace
}  // namespace attend
