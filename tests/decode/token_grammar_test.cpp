#include "attend/decode/token_grammar.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "attend/core/error.h"
#include "attend/text/training/train_bpe.h"
#include "tests/support/errors.h"

namespace attend {
namespace {

/// A byte-level tokenizer; its id 0 is the end token.
const Tokenizer& tokenizer() {
  static const Tokenizer one = [] {
    const std::vector<std::string> texts{R"({"name": "größer", "list": [true, false, null], "n": 12.5})",
                                         "日本語 日本語 😀😀 the end"};
    std::size_t next = 0;
    return train_bpe(
        [&](std::string& line) {
          line = texts[next % texts.size()];
          return next++ < 20;
        },
        {.vocab_size = 330});
  }();
  return one;
}

std::shared_ptr<const TokenTexts> texts() {
  static const auto all = std::make_shared<const TokenTexts>(tokenizer());
  return all;
}

constexpr std::int32_t kEndToken = 0;

bool has_bit(const TokenBits& bits, std::int32_t id) {
  return (bits[static_cast<std::size_t>(id) / 64] >> (id % 64) & 1) != 0;
}

std::vector<std::int32_t> ids_of(const TokenBits& bits) {
  std::vector<std::int32_t> ids;
  for (std::int32_t id = 0; id < tokenizer().size(); ++id)
    if (has_bit(bits, id)) ids.push_back(id);
  return ids;
}

const std::vector<std::string> kGrammars{R"(root ::= "[" [a-z]* "]")",
                                         R"(root ::= "{" pair ("," pair)* "}"
pair ::= "\"" [^"\\]+ "\":" (pair | "true" | "null" | [0-9]{1,3}))",
                                         R"(root ::= ("größer" | "日本語" | "😀"){2,5} .)",
                                         R"_(root ::= "(" root ")" | "x" | "[" root "," root "]")_",
                                         R"(root ::= [^a]{0,20})"};

TEST(TokenGrammar, AllowsATokenExactlyIfTheTextCanGoOnWithIt) {
  for (const std::string& gbnf : kGrammars) {
    const Grammar grammar(gbnf);
    const TokenGrammar tokens(grammar, texts(), {kEndToken});
    GrammarMatcher matcher(grammar);
    std::mt19937 random(1);
    for (int round = 0; round < 5; ++round) {
      std::vector<std::int32_t> generated;
      GrammarPosition position;
      std::uint32_t set = matcher.start();
      for (int step = 0; step < 12; ++step) {
        const auto bits = tokens.allowed(generated, position, 1 << 20);
        std::vector<std::int32_t> expected;
        if (matcher.accepts(set)) expected.push_back(kEndToken);
        for (std::int32_t id = 1; id < tokenizer().size(); ++id) {
          std::uint32_t at = set;
          for (const char c : texts()->later.text(id)) at = matcher.step(at, static_cast<unsigned char>(c));
          if (at != GrammarMatcher::kDead && !texts()->later.text(id).empty()) expected.push_back(id);
        }
        ASSERT_EQ(ids_of(*bits), expected) << gbnf << tokenizer().decode(generated);
        if (expected.back() == kEndToken) break;
        const std::int32_t next =
            expected[expected.size() - 1 - random() % (expected.size() - (expected[0] == kEndToken))];
        generated.push_back(next);
        for (const char c : texts()->later.text(next)) set = matcher.step(set, static_cast<unsigned char>(c));
      }
    }
  }
}

TEST(TokenGrammar, TheTextConformsWithinAnyNumberOfTokensThatIsLargeEnough) {
  for (const std::string& gbnf : kGrammars) {
    const Grammar grammar(gbnf);
    for (const bool has_end : {true, false}) {
      const TokenGrammar tokens(grammar, texts(), has_end ? std::vector{kEndToken} : std::vector<std::int32_t>());
      std::mt19937 random(2);
      for (std::int64_t room = std::max<std::int64_t>(tokens.shortest(), 1); room < tokens.shortest() + 25; ++room) {
        std::vector<std::int32_t> generated;
        GrammarPosition position;
        while (std::ssize(generated) < room) {
          const std::vector<std::int32_t> allowed =
              ids_of(*tokens.allowed(generated, position, room - std::ssize(generated)));
          if (allowed.empty() && !has_end) break;
          ASSERT_FALSE(allowed.empty()) << gbnf << tokenizer().decode(generated);
          generated.push_back(allowed[random() % allowed.size()]);
          if (generated.back() == kEndToken) break;
        }
        EXPECT_EQ(has_end, !generated.empty() && generated.back() == kEndToken);
        EXPECT_TRUE(tokens.accepts(generated));
        EXPECT_TRUE(grammar.accepts(tokenizer().decode(generated))) << gbnf << tokenizer().decode(generated);
      }
    }
  }
}

TEST(TokenGrammar, CountsTheTokensOfTheShortestText) {
  const TokenGrammar tokens(Grammar(R"(root ::= "{\"name\": \"" [a-z]{3,} "\"}")"), texts(), {kEndToken});
  std::int64_t fewest = 1;
  for (const std::string part : {R"({"name": "aaa"})"}) fewest += std::ssize(tokenizer().ids(part));
  EXPECT_LE(tokens.shortest(), fewest) << "the tokenizer's own tokens are one way to write it";
  EXPECT_GT(tokens.shortest(), 4);
}

TEST(TokenGrammar, APositionIsFoundAgainWhenTheSetsWereForgotten) {
  // Each letter is another set, so that the sets are forgotten now and then.
  std::string gbnf = "root ::= s \"!\"\ns ::= \"\"";
  for (char c = 'a'; c <= 'z'; ++c) gbnf += std::string(" | \"") + c + "\" s \"" + static_cast<char>(c - 32) + "\"";
  const Grammar grammar(gbnf);
  const TokenGrammar tokens(grammar, texts(), {kEndToken});
  std::mt19937 random(3);
  std::vector<std::int32_t> generated;
  GrammarPosition position;
  constexpr std::int64_t kRoom = 3000;
  while (std::ssize(generated) < kRoom) {
    const std::vector<std::int32_t> allowed =
        ids_of(*tokens.allowed(generated, position, kRoom - std::ssize(generated)));
    ASSERT_FALSE(allowed.empty());
    generated.push_back(allowed[random() % allowed.size()]);
    if (generated.back() == kEndToken) break;
  }
  EXPECT_TRUE(grammar.accepts(tokenizer().decode(generated))) << tokenizer().decode(generated);
}

TEST(TokenGrammar, VocabulariesWithoutAllBytesWriteWhatTheyCan) {
  // No single bytes but a and }; é is one token.
  const Tokenizer& any = tokenizer();
  std::vector<std::int32_t> without;
  for (std::int32_t id = 0; id < any.size(); ++id)
    if (texts()->later.text(id).size() == 1 && texts()->later.text(id) != "a" && texts()->later.text(id) != "e")
      without.push_back(id);
  const auto some = std::make_shared<const TokenTexts>(any, without);
  const Grammar grammar(R"(root ::= ("the" | "zebra" | "a")+ [ae])");
  const TokenGrammar tokens(grammar, some, {kEndToken});
  std::mt19937 random(4);
  for (int i = 0; i < 50; ++i) {
    std::vector<std::int32_t> generated;
    GrammarPosition position;
    for (std::int64_t room = 8; room > 0; --room) {
      const std::vector<std::int32_t> allowed = ids_of(*tokens.allowed(generated, position, room));
      ASSERT_FALSE(allowed.empty()) << any.decode(generated);
      generated.push_back(allowed[random() % allowed.size()]);
      if (generated.back() == kEndToken) break;
    }
    EXPECT_TRUE(grammar.accepts(any.decode(generated))) << any.decode(generated);
  }
  EXPECT_ERROR(TokenGrammar(Grammar("root ::= \"zebra\""), some, {kEndToken}), "cannot write the texts of the grammar");
}

}  // namespace
}  // namespace attend
