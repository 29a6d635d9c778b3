// Placeholders, markup and accelerators in messages of programs.
#include "attend/data/message_text.h"

#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

namespace attend {
namespace {

using Words = std::vector<std::string>;

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

}  // namespace
}  // namespace attend
