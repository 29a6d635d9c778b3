#include "attend/text/tokenizer.h"

#include <gtest/gtest.h>

#include "attend/core/threads.h"
#include "attend/text/tokenizer_parts.h"
#include "tests/support/errors.h"
#include "tests/text/golden_texts.h"

namespace attend::test {
namespace {

/// Words of a few letters, in lower case, between [CLS] and [SEP].
Tokenizer::Parts parts() {
  Tokenizer::Parts parts;
  parts.normalizer = {normalizer::Bert{}};
  parts.pre_tokenizer = {pre_tokenizer::Bert{}};
  parts.model = WordPiece({"[UNK]", "[CLS]", "[SEP]", "a", "b", "##b", "c", "e", "中"});
  parts.post_processor = {post_processor::Bert{{"[SEP]", 2}, {"[CLS]", 1}}};
  parts.decoder = {decoder::WordPiece{}};
  parts.added_tokens = {{"[SEP]", 2, false, false, false, false, true}};
  return parts;
}
Tokenizer tokenizer() { return Tokenizer(parts()); }

std::vector<Span> spans(std::initializer_list<Span> list) { return list; }

TEST(Tokenizer, SpansAreBytesOfTheOriginal) {
  const Encoding encoding = tokenizer().encode("É  中ab\tB");
  EXPECT_EQ(encoding.ids, (std::vector<std::int32_t>{1, 7, 8, 3, 5, 4, 2}));
  EXPECT_EQ(encoding.spans, spans({{0, 0}, {0, 2}, {4, 7}, {7, 8}, {8, 9}, {10, 11}, {0, 0}}));
  EXPECT_EQ(encoding.words, (std::vector<std::int32_t>{-1, 0, 1, 2, 2, 3, -1}));
  EXPECT_EQ(encoding.special, (std::vector<std::uint8_t>{1, 0, 0, 0, 0, 0, 1}));
}

TEST(Tokenizer, InvalidBytesAreReplacedAndCountedAndSpansStayCorrect) {
  Tokenizer::Parts words = parts();
  words.normalizer.clear();  // BERT's clean-up would drop U+FFFD
  const Encoding encoding = Tokenizer(words).encode("a \xFF b \xE4\xB8 c", {.special_tokens = false});
  EXPECT_EQ(encoding.invalid, 2);
  EXPECT_EQ(encoding.ids, (std::vector<std::int32_t>{3, 0, 4, 0, 6}));
  EXPECT_EQ(encoding.spans, spans({{0, 1}, {2, 3}, {4, 5}, {6, 8}, {9, 10}}));
}

TEST(Tokenizer, AnEmptyTextHasNoTokens) {
  EXPECT_EQ(tokenizer().encode("", {.special_tokens = false}).size(), 0);
  EXPECT_EQ(tokenizer().encode(" \n ").ids, (std::vector<std::int32_t>{1, 2}));
  EXPECT_TRUE(tokenizer().ids("").empty());
  EXPECT_EQ(tokenizer().decode({}), "");
}

TEST(Tokenizer, ALongTextIsAnErrorTruncatedOrSplit) {
  const Tokenizer t = tokenizer();
  const std::string text = "a b c a b";
  EXPECT_ERROR(t.encode(text, {.max_tokens = 5}), "got 7 tokens, expected at most 5");
  const Encoding cut = t.encode(text, {.max_tokens = 5, .long_text = LongText::truncate});
  EXPECT_EQ(cut.ids, (std::vector<std::int32_t>{1, 3, 4, 6, 2}));
  EXPECT_EQ(cut.dropped, 2);
  const auto windows = t.encode_windows(text, {.max_tokens = 5, .long_text = LongText::split, .overlap = 1});
  ASSERT_EQ(windows.size(), 2u);
  EXPECT_EQ(windows[0].ids, (std::vector<std::int32_t>{1, 3, 4, 6, 2}));
  EXPECT_EQ(windows[1].ids, (std::vector<std::int32_t>{1, 6, 3, 4, 2}));
  EXPECT_EQ(windows[1].spans[1], (Span{4, 5}));
  EXPECT_ERROR(t.encode(text, {.max_tokens = 5, .long_text = LongText::split, .overlap = 3}), "cannot share 3");
  EXPECT_ERROR(t.encode(text, {.max_tokens = 1, .long_text = LongText::truncate}), "at least the 2 special tokens");
}

TEST(Tokenizer, PairsKeepTheFirstTextInEachWindow) {
  const Tokenizer t = tokenizer();
  const auto windows = t.encode_pair_windows("a", "b c b c", {.max_tokens = 6, .long_text = LongText::split});
  ASSERT_EQ(windows.size(), 2u);
  EXPECT_EQ(windows[1].ids, (std::vector<std::int32_t>{1, 3, 2, 4, 6, 2}));
  EXPECT_EQ(windows[1].types, (std::vector<std::int32_t>{0, 0, 0, 1, 1, 1}));
  const Encoding cut = t.encode_pair("a", "b c b c", {.max_tokens = 6, .long_text = LongText::truncate});
  EXPECT_EQ(cut.ids, (std::vector<std::int32_t>{1, 3, 2, 4, 6, 2}));
  EXPECT_EQ(cut.dropped, 2);
}

TEST(Tokenizer, AddedTokensAreFoundBeforeAnythingElse) {
  Tokenizer::Parts with = parts();
  with.added_tokens.push_back({"<Mask>", 9, false, true, false, false, true});  // includes the space before it
  with.added_tokens.push_back({"CAB", 10, true, false, false, true, false});    // a single word, normalized
  const Tokenizer t(with);
  EXPECT_EQ(t.size(), 11);
  const Encoding encoding = t.encode("a  <Mask>b cab acab", {.special_tokens = false});
  EXPECT_EQ(encoding.ids, (std::vector<std::int32_t>{3, 9, 4, 10, 0}));
  EXPECT_EQ(encoding.spans, spans({{0, 1}, {1, 9}, {9, 10}, {11, 14}, {15, 19}}));
  EXPECT_EQ(t.decode(encoding.ids), "a b cab [UNK]");
  EXPECT_EQ(t.decode(encoding.ids, false), "a <Mask> b cab [UNK]");
  EXPECT_EQ(t.id("CAB"), 10);
  EXPECT_TRUE(t.is_special(9));
  EXPECT_FALSE(t.is_special(10));
}

TEST(Tokenizer, AnUnknownIdIsAnError) {
  EXPECT_ERROR(tokenizer().decode(std::vector<std::int32_t>{3, 9}), "got the id 9, expected 0 to 8");
  EXPECT_ERROR(tokenizer().decode(std::vector<std::int32_t>{-1}), "got the id -1");
}

TEST(Tokenizer, ManyTextsOnManyThreadsAreTheSameAsOneByOne) {
  const Tokenizer t = load_tokenizer(fixture("gpt2"));
  std::vector<std::string> texts;
  for (int round = 0; round < 50; ++round) texts.insert(texts.end(), golden_texts().begin(), golden_texts().end());
  const int before = threads();
  set_threads(2);
  const std::vector<Encoding> all = t.encode_all(texts);
  set_threads(before);
  ASSERT_EQ(all.size(), texts.size());
  for (std::size_t i = 0; i < texts.size(); ++i) {
    const Encoding one = t.encode(texts[i]);
    EXPECT_EQ(all[i].ids, one.ids);
    EXPECT_EQ(all[i].spans, one.spans);
  }
}

TEST(Tokenizer, IdsAloneAreThoseOfEncode) {
  for (const char* family : {"gpt2", "bert_uncased", "t5", "llama2", "words", "xlm_roberta"}) {
    const Tokenizer t = load_tokenizer(fixture(family));
    for (const std::string& text : golden_texts()) {
      EXPECT_EQ(t.ids(text), t.encode(text, {.special_tokens = false}).ids) << family << ": " << text;
      EXPECT_EQ(t.ids(text, true), t.encode(text).ids) << family << ": " << text;
    }
  }
}

TEST(StreamDecoder, GivesTheSameTextAsDecode) {
  for (const char* family : {"gpt2", "bert_uncased", "t5", "llama2", "words"}) {
    const Tokenizer t = load_tokenizer(fixture(family));
    for (const std::string& text : golden_texts()) {
      const std::vector<std::int32_t> ids = t.ids(text);
      StreamDecoder stream(t);
      std::string streamed;
      for (const std::int32_t id : ids) streamed += stream.push(id);
      EXPECT_EQ(streamed + stream.finish(), t.decode(ids)) << family << ": " << text;
    }
  }
}

TEST(StreamDecoder, HoldsBackBytesThatTheNextOneCanMakeInvalid) {
  const Tokenizer t = load_tokenizer(fixture("llama2"));
  std::vector<std::int32_t> ids;
  for (const char* token : {"▁c", "<0x55>", "<0x8C>", "<0xE2>", "<0x82>", "<0xAC>", "▁c", "<0xE2>", "<0x82>", "<0xAC>"})
    ids.push_back(t.id(token).value());
  StreamDecoder stream(t);
  std::string streamed;
  for (const std::int32_t id : ids) streamed += stream.push(id);
  EXPECT_EQ(streamed + stream.finish(), t.decode(ids));
}

}  // namespace
}  // namespace attend::test
