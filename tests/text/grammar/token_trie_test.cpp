#include "attend/text/grammar/token_trie.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "attend/text/tokenizer.h"
#include "attend/text/training/train_bpe.h"
#include "attend/text/training/train_words.h"
#include "attend/text/unicode.h"
#include "tests/support/errors.h"
#include "tests/support/numbered_words.h"

namespace attend {
namespace {

Tokenizer byte_level() {
  const std::vector<std::string> texts{"the cat and the hat", "größer größer 日本語 日本語 😀😀",
                                       "{\"a\": 1, \"b\": \"c\"}"};
  std::size_t next = 0;
  return train_bpe(
      [&](std::string& line) {
        line = texts[next % texts.size()];
        return next++ < 9;
      },
      {.vocab_size = 320});
}

void expect_texts_of_tokens(const Tokenizer& tokenizer) {
  const TokenTexts texts(tokenizer);
  std::mt19937 random(5);
  int compared = 0;
  for (int i = 0; i < 3000; ++i) {
    std::vector<std::int32_t> ids;
    std::string all;
    const std::size_t length = 1 + random() % 5;
    while (ids.size() < length) {
      const auto id = static_cast<std::int32_t>(random() % static_cast<std::uint32_t>(tokenizer.size()));
      const std::string_view text = (ids.empty() ? texts.first : texts.later).text(id);
      if (text.empty()) continue;
      all += text;
      ids.push_back(id);
    }
    if (count_invalid_utf8(all) > 0) continue;  // ends inside a character
    EXPECT_EQ(tokenizer.decode(ids), all);
    ++compared;
  }
  EXPECT_GT(compared, 100);
}

TEST(TokenTexts, AreTheTextsThatTokensAdd) {
  expect_texts_of_tokens(byte_level());
  expect_texts_of_tokens(load_tokenizer(std::string(ATTEND_SOURCE_DIR) + "/tests/text/fixtures/llama2"));
}

TEST(TokenTexts, TokenizersThatJoinByRulesAreRefused) {
  EXPECT_ERROR(TokenTexts(test::numbered_words(20)), "the tokenizer joins tokens by rules of its own");
}

TEST(TokenTrie, HasEachTokenOnceUnderItsText) {
  const TokenTrie trie({"a", "abc", "", "ab", "b", "a", "\xff", "\x80z", std::string(2000, 'x')});
  std::vector<std::string> path(trie.depth() + 1);
  std::vector<std::int32_t> found;
  for (std::size_t n = 0; n < trie.nodes().size(); ++n) {
    const TokenTrie::Node& node = trie.nodes()[n];
    path[node.depth] = path[node.depth - 1] + static_cast<char>(node.byte);
    for (const std::int32_t token : trie.tokens(n)) {
      EXPECT_EQ(trie.text(token), path[node.depth]);
      found.push_back(token);
    }
  }
  std::ranges::sort(found);
  EXPECT_EQ(found, (std::vector<std::int32_t>{0, 1, 3, 4, 5, 6, 7}))
      << "not the empty one, and not one that is too long";
  std::vector<std::size_t> lengths;
  trie.each_prefix("abcd", [&](std::size_t length) { lengths.push_back(length); });
  EXPECT_EQ(lengths, (std::vector<std::size_t>{1, 2, 3}));
  for (const char* none : {"", "c", "\x81", "\x80", "z"})
    trie.each_prefix(none, [&](std::size_t) { ADD_FAILURE() << none; });
  TokenTrie({}).each_prefix("a", [](std::size_t) { ADD_FAILURE(); });
}

}  // namespace
}  // namespace attend
