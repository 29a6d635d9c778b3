// TMX and XLIFF: valid files, and files with errors.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "attend/data/reader.h"
#include "tests/data/support.h"
#include "tests/support/errors.h"

namespace attend {
namespace {

using test::pairs_of;
using test::skipped_of;
using Pairs = std::vector<test::Pair>;

std::string tmx(const std::string& units, const std::string& header = "srclang='en-US'") {
  return "<?xml version='1.0'?><!DOCTYPE tmx SYSTEM 'tmx14.dtd'><tmx version='1.4'><header " + header + "/><body>" +
         units + "</body></tmx>";
}
std::string unit(const std::string& en, const std::string& it) {
  return "<tu><tuv xml:lang='en-US'><seg>" + en + "</seg></tuv><tuv xml:lang='IT_it'><seg>" + it + "</seg></tuv></tu>";
}

TEST(Tmx, LanguagesMatchByPrefix) {
  EXPECT_EQ(pairs_of(read_tmx(TextStream::of(tmx(unit("one", "uno") + unit("two", "due"))), {"en", "it"})),
            (Pairs{{"one", "uno"}, {"two", "due"}}));
  EXPECT_EQ(pairs_of(read_tmx(TextStream::of(tmx(unit("one", "uno"))), {"it", "en"})), (Pairs{{"uno", "one"}}));
  EXPECT_EQ(pairs_of(read_tmx(TextStream::of(tmx(unit("one", "uno"))), {"", "it"})), (Pairs{{"one", "uno"}}));
}

TEST(Tmx, ErrorsListTheLanguagesOfTheFile) {
  const std::string text = tmx(unit("one", "uno"));
  EXPECT_ERROR(pairs_of(read_tmx(TextStream::of(text, "m.tmx"), {"en", "de"})),
               "no text is in \"de\": the file has en-US, IT_it");
  EXPECT_ERROR(pairs_of(read_tmx(TextStream::of(text, "m.tmx"), {})),
               "no target language was named: the first unit has en-US, IT_it");
}

TEST(Tmx, DropsInlineCodesButNotHighlightedText) {
  const std::string en =
      "a <bpt i='1'>&lt;b&gt;<sub>x</sub></bpt><hi>bold</hi><ept i='1'>&lt;/b&gt;</ept><ph type='lb'>\\n</ph>c";
  EXPECT_EQ(pairs_of(read_tmx(TextStream::of(tmx(unit(en, "&#xE8; &amp; <![CDATA[<x>]]>"))), {"en", "it"})),
            (Pairs{{"a bold c", "\xC3\xA8 & <x>"}}));
}

TEST(Tmx, PairsEveryVariantAndCountsUnitsWithoutBoth) {
  const std::string units =
      "<tu><tuv lang='en'><seg>hi</seg></tuv><tuv lang='it'><seg>ciao</seg></tuv><tuv "
      "lang='it'><seg>salve</seg></tuv></tu>"
      "<tu><tuv lang='en'><seg>alone</seg></tuv><tuv lang='de'><seg>allein</seg></tuv></tu>";
  const auto reader = read_tmx(TextStream::of(tmx(units)), {"en", "it"});
  EXPECT_EQ(pairs_of(reader), (Pairs{{"hi", "ciao"}, {"hi", "salve"}}));
  EXPECT_EQ(skipped_of(*reader, "not in both languages"), 1);
}

TEST(Tmx, ReadsOtherEncodings) {
  const std::string latin =
      "<?xml version='1.0' encoding='ISO-8859-1'?><tmx><body>" + unit("one", "perch\xE9") + "</body></tmx>";
  EXPECT_EQ(pairs_of(read_tmx(TextStream::of(latin), {"en", "it"})), (Pairs{{"one", "perch\xC3\xA9"}}));
  std::string wide = "\xFF\xFE";
  for (const char c : "<?xml version='1.0' encoding='UTF-16'?><tmx><body>" + unit("one", "uno") + "</body></tmx>")
    wide += {c, '\0'};
  EXPECT_EQ(pairs_of(read_tmx(TextStream::of(wide), {"en", "it"})), (Pairs{{"one", "uno"}}));
}

TEST(Tmx, RepairsControlCharactersAndInvalidUtf8) {
  const auto reader = read_tmx(TextStream::of(tmx(unit("a\x1F"
                                                       "b&#x1E;c&#31;d",
                                                       "\xFF&#65;"))),
                               {"en", "it"});
  Record record;
  ASSERT_TRUE(reader->next(record));
  EXPECT_EQ(record.source, "a b      c     d");
  EXPECT_EQ(record.target,
            "\xEF\xBF\xBD"
            "A");
  EXPECT_EQ(reader->invalid_text().count, 1);
  EXPECT_EQ(test::skipped_of(*reader, "control character"), 3);
}

TEST(Tmx, BrokenFilesAreNamedWithTheirLine) {
  const std::string text = tmx(unit("one", "uno"));
  EXPECT_ERROR(pairs_of(read_tmx(TextStream::of("<tmx>\n<body>\n</tmx>", "m.tmx"), {"en", "it"})),
               "m.tmx:3: not well-formed XML: mismatched tag");
  EXPECT_ERROR(pairs_of(read_tmx(TextStream::of(text.substr(0, text.size() - 9), "m.tmx"), {"en", "it"})),
               "is the file complete?");
  EXPECT_ERROR(pairs_of(read_tmx(TextStream::of("", "m.tmx"), {"en", "it"})), "no element found");
}

TEST(Tmx, EntityExpansionIsLimited) {
  std::string text = "<!DOCTYPE tmx [<!ENTITY a0 'ha'>";
  for (int i = 1; i < 30; ++i) {
    const std::string inner = "&a" + std::to_string(i - 1) + ";";
    text += "<!ENTITY a" + std::to_string(i) + " '" + inner + inner + inner + inner + "'>";
  }
  text += "]><tmx><body>" + unit("&a29;", "x") + "</body></tmx>";
  EXPECT_ERROR(pairs_of(read_tmx(TextStream::of(text), {"en", "it"})), "amplification");
}

TEST(Xliff, Version12PairsSourceAndTarget) {
  const std::string text =
      "<xliff version='1.2'><file source-language='en' target-language='it-IT'><body>"
      "<trans-unit id='1'><source>a <g id='1'>b</g><x id='2' ctype='lb'/>c</source><target>x <g id='1'>y</g>"
      "<ph id='3'>%s</ph></target><alt-trans><source>no</source><target>no</target></alt-trans></trans-unit>"
      "<trans-unit id='2'><source>new</source><target state='needs-translation'>new</target></trans-unit>"
      "<trans-unit id='3'><source>none</source></trans-unit>"
      "<trans-unit id='4' translate='no'><source>v1</source><target>v1</target></trans-unit>"
      "</body></file></xliff>";
  const auto reader = read_xliff(TextStream::of(text), {"en", "it"});
  EXPECT_EQ(pairs_of(reader), (Pairs{{"a b c", "x y"}}));
  EXPECT_EQ(skipped_of(*reader, "untranslated"), 2);
  EXPECT_EQ(skipped_of(*reader, "not to be translated"), 1);
  EXPECT_TRUE(pairs_of(read_xliff(TextStream::of(text), {"en", "de"})).empty());
  EXPECT_EQ(pairs_of(read_xliff(TextStream::of(text))).size(), 1U);
}

TEST(Xliff, Version20PairsSegments) {
  const std::string text =
      "<xliff xmlns='urn:oasis:names:tc:xliff:document:2.0' xmlns:mtc='m' version='2.0' srcLang='en' "
      "trgLang='it'><file id='f'>"
      "<unit id='u'><mtc:matches><mtc:match><source>no</source><target>no</target></mtc:match></mtc:matches>"
      "<originalData><data id='d'>&lt;b&gt;</data></originalData>"
      "<segment state='final'><source><pc id='1'>One</pc>.</source><target>Uno<ph id='2'/>.</target></segment>"
      "<ignorable><source> </source></ignorable>"
      "<segment state='initial'><source>Two</source><target>Two</target></segment></unit></file></xliff>";
  const auto reader = read_xliff(TextStream::of(text));
  EXPECT_EQ(pairs_of(reader), (Pairs{{"One.", "Uno."}}));
  EXPECT_EQ(skipped_of(*reader, "untranslated"), 1);
}

}  // namespace
}  // namespace attend
