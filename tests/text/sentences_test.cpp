#include "attend/text/sentences.h"

#include <gtest/gtest.h>

#include <string>

#include "attend/core/random.h"
#include "attend/text/unicode.h"

namespace attend {
namespace {

using Parts = std::vector<std::string>;

TEST(Sentences, EndAtTheirMarks) {
  EXPECT_EQ(split_sentences("One. Two! Three? Four… Five"), (Parts{"One.", "Two!", "Three?", "Four…", "Five"}));
  EXPECT_EQ(split_sentences("What?! No... Yes!!"), (Parts{"What?!", "No...", "Yes!!"}));
  EXPECT_EQ(split_sentences("¿Qué tal? ¡Muy bien! Adiós."), (Parts{"¿Qué tal?", "¡Muy bien!", "Adiós."}));
  EXPECT_EQ(split_sentences("क्या हाल है? सब ठीक है। धन्यवाद।"), (Parts{"क्या हाल है?", "सब ठीक है।", "धन्यवाद।"}));
}

TEST(Sentences, NeedNoSpaceWhereTheScriptHasNone) {
  EXPECT_EQ(split_sentences("今日は。元気ですか？はい！"), (Parts{"今日は。", "元気ですか？", "はい！"}));
  EXPECT_EQ(split_sentences("「はい。」と言った。次。"), (Parts{"「はい。」と言った。", "次。"}));
}

TEST(Sentences, KeepTheQuotesAndBracketsThatClose) {
  EXPECT_EQ(split_sentences("\"Stop!\" He stopped. (It was late.) Then \"go.\" Now."),
            (Parts{"\"Stop!\"", "He stopped.", "(It was late.)", "Then \"go.\"", "Now."}));
  EXPECT_EQ(split_sentences("Er sagte: „Ja.“ Sie ging."), (Parts{"Er sagte: „Ja.“", "Sie ging."}));
  EXPECT_EQ(split_sentences("« Oui. » Il part. »Nein.« Doch."), (Parts{"« Oui. »", "Il part.", "»Nein.«", "Doch."}));
  EXPECT_EQ(split_sentences("Er kam. »Ja«, sagte sie."), (Parts{"Er kam.", "»Ja«, sagte sie."}));
}

TEST(Sentences, DoNotEndBeforeALowerCaseLetter) {
  EXPECT_EQ(split_sentences("\"Really?\" she asked. Well... maybe. Yahoo! is old."),
            (Parts{"\"Really?\" she asked.", "Well... maybe.", "Yahoo! is old."}));
}

TEST(Sentences, DoNotEndAfterAbbreviations) {
  for (const std::string_view text :
       {"Mr. Smith met Dr. Jones.", "Il dott. Rossi e la sig. Bianchi.", "Das ist z. B. Käse, d.h. Milch.",
        "See e.g. Paris or i.e. Rome.", "J. S. Bach wrote it.", "La Fiat S.p.A. Torino produce auto.",
        "Am 3. Oktober im 19. Jahrhundert.", "It costs 3.14 at example.com today.", "Vedi pag. Tre.", "No. 5 is alive.",
        "Prof. Dr. Müller kommt.", "1. Introduction", "The U.S. President spoke.", "Version 2.0.1 of node.js runs."})
    EXPECT_EQ(split_sentences(text), Parts{std::string(text)});
}

TEST(Sentences, EndAfterWordsThatOnlyLookLikeAbbreviations) {
  EXPECT_EQ(split_sentences("I said no. He left."), (Parts{"I said no.", "He left."}));
  EXPECT_EQ(split_sentences("It was 1990. Then came war."), (Parts{"It was 1990.", "Then came war."}));
  EXPECT_EQ(split_sentences("At 5 p.m. The bus came."), (Parts{"At 5 p.m.", "The bus came."}));
  EXPECT_EQ(split_sentences("Apples, pears etc. The rest."), (Parts{"Apples, pears etc.", "The rest."}));
  EXPECT_EQ(split_sentences("Lavora per Fiat S.p.A. Il lavoro è duro."),
            (Parts{"Lavora per Fiat S.p.A.", "Il lavoro è duro."}));
  EXPECT_EQ(split_sentences("It ends in Dr.\nNext line"), (Parts{"It ends in Dr.", "Next line"}));
}

TEST(Sentences, OfSeveralScriptsInOneText) {
  EXPECT_EQ(split_sentences("Il gatto dorme. La ragazza legge."), (Parts{"Il gatto dorme.", "La ragazza legge."}));
  EXPECT_EQ(split_sentences("“Vieni?” Certo… Forse no."), (Parts{"“Vieni?”", "Certo…", "Forse no."}));
  EXPECT_EQ(split_sentences("他来了。She left. 他说：“走吧！”然后走了。"),
            (Parts{"他来了。", "She left.", "他说：“走吧！”然后走了。"}));
}

TEST(Sentences, EndWithTheLine) {
  EXPECT_EQ(split_sentences("A heading\n\nSome text.\r\nmore  \n"), (Parts{"A heading", "Some text.", "more"}));
}

TEST(Sentences, TouchInChineseAndJapaneseOnly) {
  EXPECT_TRUE(sentences_touch("今日は。", "元気ですか？"));
  EXPECT_TRUE(sentences_touch("他说：“你好。”", "我走了。"));
  EXPECT_TRUE(sentences_touch("你好！", "Apple 来了。"));
  EXPECT_TRUE(sentences_touch("标题", "“一”"));
  EXPECT_TRUE(sentences_touch("ﾊｲ｡", "次"));
  EXPECT_FALSE(sentences_touch("我用 Linux", "Hello."));
  EXPECT_FALSE(sentences_touch("标题", "Hello."));
  EXPECT_FALSE(sentences_touch("Hello.", "World."));
  EXPECT_FALSE(sentences_touch("He said \"stop!\"", "Then he left."));
  EXPECT_FALSE(sentences_touch("안녕하세요.", "반갑습니다."));
  EXPECT_FALSE(sentences_touch("สวัสดี", "ลาก่อน"));
  EXPECT_FALSE(sentences_touch("\xff\xe3", "\x80"));
}

TEST(Sentences, WordsTouchInScriptsWithoutSpaces) {
  EXPECT_TRUE(words_touch("我喜", "欢茶"));
  EXPECT_TRUE(words_touch("カタ", "カナ"));
  EXPECT_TRUE(words_touch("สวัส", "ดี"));
  EXPECT_TRUE(words_touch("ព្រះ", "រាជា"));
  EXPECT_FALSE(words_touch("one", "two"));
  EXPECT_FALSE(words_touch("한국", "사람"));
  EXPECT_FALSE(words_touch("เขาใช้", "Linux"));
}

TEST(Sentences, AnEmptyTextHasNone) {
  EXPECT_TRUE(sentences("").empty());
  EXPECT_TRUE(sentences(" \n\t \u3000").empty());
}

// Random texts of marks, spaces, letters, abbreviations, and invalid bytes.
TEST(Sentences, LoseNothingButWhiteSpaceBetweenThem) {
  const std::string_view pieces[] = {
      ".", "!", "?",       "…", "。",   "」",       "\"", "»", "«",   " ",   "\n",  "\u00a0", "a",  "B",      "Dr",
      "z", "3", "Oktober", "é", "\xff", "\xe3\x80", "(",  ")", "etc", "The", "U.S", "…\"",    "\t", "\u2028", "\xc2"};
  for (std::uint64_t seed = 0; seed < 3000; ++seed) {
    std::string text;
    for (std::uint64_t i = 0; i < 40; ++i) text += pieces[philox({seed, 0}, i)[0] % std::size(pieces)];
    std::int64_t end = 0;
    const auto check_gap = [&](std::int64_t from, std::int64_t to) {
      for (std::int64_t at = from; at < to;) {
        const CodePoint c = decode_utf8(text, static_cast<std::size_t>(at));
        ASSERT_TRUE(is_space(c.value)) << text;
        at += c.size;
      }
    };
    for (const Span& span : sentences(text)) {
      ASSERT_LE(end, span.begin) << text;
      ASSERT_LT(span.begin, span.end) << text;
      check_gap(end, span.begin);
      ASSERT_FALSE(is_space(decode_utf8(text, static_cast<std::size_t>(span.begin)).value)) << text;
      end = span.end;
    }
    check_gap(end, static_cast<std::int64_t>(text.size()));
  }
}

TEST(Sentences, SplittingASentenceAgainChangesNothing) {
  const std::string text = "One here. And two? (Three.) \"Four!\" Five.";
  for (const std::string& part : split_sentences(text)) EXPECT_EQ(split_sentences(part), Parts{part});
}

}  // namespace
}  // namespace attend
