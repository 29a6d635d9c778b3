// Words of a text, and tokens for display.
#include "attend/text/words.h"

#include <gtest/gtest.h>

#include "attend/text/shown_token.h"
#include "attend/text/unicode.h"

namespace attend {
namespace {

TEST(Words, AreSeparatedByWhiteSpace) {
  EXPECT_EQ(count_words(""), 0u);
  EXPECT_EQ(count_words(" \t\n"), 0u);
  EXPECT_EQ(count_words("one"), 1u);
  EXPECT_EQ(count_words("  one two\u3000three\tfour "), 4u);
}

TEST(Words, ATokenBelongsToTheWordOfItsFirstLetter) {
  const std::string text = "él corre mucho";  // é has two bytes
  const std::vector<Span> tokens{{0, 0}, {0, 3}, {3, 6}, {6, 9}, {9, 15}, {3, 4}, {15, 15}};
  EXPECT_EQ(words_of_tokens(text, tokens), (std::vector<std::int32_t>{-1, 0, 1, 1, 2, -1, -1}));
}

TEST(Words, SpansBeyondTheTextAreNoWords) {
  EXPECT_EQ(words_of_tokens("ab", std::vector<Span>{{2, 9}, {0, 9}}), (std::vector<std::int32_t>{-1, 0}));
}

Tokenizer tokenizer(const std::string& name) {
  return load_tokenizer(std::filesystem::path(ATTEND_SOURCE_DIR) / "tests" / name);
}

TEST(ShownToken, ShowsSpacesAndKeepsSpecialTokens) {
  const Tokenizer gpt2 = tokenizer("models/fixtures/gpt2_tokenizer"), bert = tokenizer("tasks/fixtures/bert_words"),
                  marian = tokenizer("models/fixtures/marian_tokenizer");
  for (std::int32_t id = 0; id < gpt2.size(); ++id)
    EXPECT_EQ(shown_token(gpt2, id).find("Ġ"), std::string::npos) << gpt2.token(id);
  for (std::int32_t id = 0; id < marian.size(); ++id)
    EXPECT_EQ(shown_token(marian, id).find("▁"), std::string::npos) << marian.token(id);
  EXPECT_EQ(shown_token(bert, *bert.id("[CLS]")), "[CLS]");
  EXPECT_EQ(shown_token(bert, *bert.id("##n")), "##n");
  EXPECT_EQ(shown_token(gpt2, *gpt2.id("Ġ")), " ");
}

TEST(ShownToken, IsValidUtf8ForIncompleteCharacters) {
  const Tokenizer gpt2 = tokenizer("models/fixtures/gpt2_tokenizer");
  for (std::int32_t id = 0; id < gpt2.size(); ++id) EXPECT_EQ(count_invalid_utf8(shown_token(gpt2, id)), 0);
  const std::vector<std::int32_t> ids = gpt2.ids("€");
  EXPECT_TRUE(shown_token(gpt2, ids.front()).starts_with("\\xE2")) << shown_token(gpt2, ids.front());
}

}  // namespace
}  // namespace attend
