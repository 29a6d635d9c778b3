#include "attend/text/bpe.h"

#include <gtest/gtest.h>

#include <random>

#include "attend/text/byte_level.h"
#include "attend/text/tokenizer_parts.h"
#include "attend/text/unicode.h"
#include "tests/support/errors.h"
#include "tests/text/golden_texts.h"

namespace attend::test {
namespace {

std::vector<Piece> cut(const auto& model, std::string_view word) {
  std::vector<Piece> pieces;
  model.encode(word, pieces);
  return pieces;
}

std::string tokens(const auto& model, std::string_view word) {
  std::string joined;
  for (const Piece& piece : cut(model, word))
    joined += std::string(joined.empty() ? "" : " ") += model.vocabulary().token(piece.id);
  return joined;
}

Bpe model(BpeOptions options = {}) {
  return {{"a", "b", "c", "ab", "abc", "bc", "<unk>"}, {{1, 2}, {0, 1}, {3, 2}}, std::move(options)};
}

TEST(Bpe, TheEarliestMergeComesFirstAndTheLeftmostOfEqualOnes) {
  EXPECT_EQ(tokens(model(), "abc"), "a bc");
  EXPECT_EQ(tokens(model(), "abab"), "ab ab");
  EXPECT_EQ(tokens(model(), "aab"), "a ab");
}

TEST(Bpe, UnknownCharactersAreDroppedOrUnknownOneByOneOrFused) {
  EXPECT_EQ(tokens(model(), "axyb"), "ab");
  EXPECT_EQ(tokens(model({.unk_token = "<unk>"}), "axyb"), "a <unk> <unk> b");
  EXPECT_EQ(tokens(model({.unk_token = "<unk>", .fuse_unk = true}), "axyb"), "a <unk> b");
  EXPECT_ERROR(cut(model({.unk_token = "?"}), "x"), "\"?\" is not in the vocabulary");
}

TEST(Bpe, WithIgnoreMergesAWordOfTheVocabularyIsOneToken) {
  EXPECT_EQ(tokens(model({.ignore_merges = true}), "abc"), "abc");
}

TEST(Bpe, TokensHaveTheirBytes) {
  const std::vector<Piece> expected = {{6, 0, 2}, {3, 2, 4}};
  EXPECT_EQ(cut(model({.unk_token = "<unk>"}), "éab"), expected);
}

TEST(Bpe, AMergeOutsideOfTheVocabularyIsAnError) {
  EXPECT_ERROR(Bpe({"a", "b"}, {{0, 1}}), "gives \"ab\"");
  EXPECT_ERROR(Bpe({"a", "b"}, {{0, 7}}), "not in the vocabulary: 0 and 7");
}

/// The definition of BPE: applies one merge after the other to the whole word.
std::vector<std::int32_t> merge_naively(const Bpe& bpe, std::vector<std::int32_t> ids) {
  for (bool merged = true; merged;) {
    merged = false;
    for (const BpeMerge& merge : bpe.merges()) {
      for (std::size_t i = 0; i + 1 < ids.size() && !merged; ++i)
        if (ids[i] == merge.left && ids[i + 1] == merge.right) {
          const std::string whole = std::string(bpe.vocabulary().token(merge.left)) +=
              bpe.vocabulary().token(merge.right);
          ids[i] = *bpe.vocabulary().id(whole);
          ids.erase(ids.begin() + static_cast<std::ptrdiff_t>(i) + 1);
          merged = true;
        }
      if (merged) break;
    }
  }
  return ids;
}

TEST(Bpe, ShortAndLongWordsAreMergedByDefinition) {
  Vocabulary vocabulary{"a", "b", "c"};
  std::vector<BpeMerge> merges;
  std::mt19937 random(1);
  while (merges.size() < 60) {
    const auto size = static_cast<std::int32_t>(vocabulary.size());
    const BpeMerge merge{static_cast<std::int32_t>(random()) & 0x7FFF, static_cast<std::int32_t>(random()) & 0x7FFF};
    const BpeMerge fits{merge.left % size, merge.right % size};
    const std::string whole = std::string(vocabulary.token(fits.left)) += vocabulary.token(fits.right);
    if (whole.size() > 9 || vocabulary.id(whole)) continue;
    vocabulary.add(whole, size);
    merges.push_back(fits);
  }
  const Bpe bpe(vocabulary, merges);
  for (const std::size_t size : {1, 2, 7, 30, 48, 49, 200}) {
    std::string word;
    std::vector<std::int32_t> ids;
    for (std::size_t i = 0; i < size; ++i) {
      ids.push_back(static_cast<std::int32_t>(random() % 3));
      word += bpe.vocabulary().token(ids.back());
    }
    std::vector<std::int32_t> ours;
    for (const Piece& piece : cut(bpe, word)) ours.push_back(piece.id);
    EXPECT_EQ(ours, merge_naively(bpe, ids)) << word;
  }
}

TEST(Bpe, AnyBytesAreRestoredByDecoding) {
  const Tokenizer tokenizer = load_tokenizer(fixture("gpt2"));
  std::mt19937 random(2);
  for (int round = 0; round < 2000; ++round) {
    std::string text;
    for (std::uint32_t i = random() % 40; i > 0; --i) {
      const std::uint32_t limit[] = {0x80, 0x300, 0x3000, 0x110000};
      const char32_t c = random() % limit[random() % 4];
      append_utf8(c >= 0xD800 && c <= 0xDFFF ? U' ' : c, text);
    }
    const std::vector<std::int32_t> ids = tokenizer.ids(text);
    EXPECT_EQ(tokenizer.decode(ids, false), text);
    StreamDecoder stream(tokenizer, false);
    std::string streamed;
    for (const std::int32_t id : ids) {
      streamed += stream.push(id);
      EXPECT_EQ(count_invalid_utf8(streamed), 0);
    }
    EXPECT_EQ(streamed + stream.finish(), text);
  }
}

TEST(Bpe, AWordOfAMegabyteTakesLittleTime) {
  const Tokenizer tokenizer = load_tokenizer(fixture("gpt2"));
  const std::string text = long_text(1 << 20, "");
  EXPECT_EQ(tokenizer.decode(tokenizer.ids(text)), text);
}

TEST(WordPiece, TakesTheLongestMatchOrTheWordIsUnknown) {
  const WordPiece model({"[UNK]", "un", "##aff", "##able", "##a", "é"});
  EXPECT_EQ(tokens(model, "unaffable"), "un ##aff ##able");
  EXPECT_EQ(tokens(model, "unaffx"), "[UNK]");
  EXPECT_EQ(tokens(model, "é"), "é");
  EXPECT_EQ(tokens(model, "un" + std::string(98, 'a')).substr(0, 8), "un ##a #");
  EXPECT_EQ(tokens(model, "un" + std::string(99, 'a')), "[UNK]");
  EXPECT_ERROR(WordPiece({"a"}), "\"[UNK]\" is not in the vocabulary");
}

TEST(Unigram, FindsTheMostLikelySegmentation) {
  const Unigram model({"<unk>", "a", "b", "ab", "abc", "c"}, {0, -1, -1, -1.5, -9, -1}, {.unk_id = 0});
  EXPECT_EQ(tokens(model, "abc"), "ab c");
  EXPECT_EQ(tokens(model, "axyb"), "a <unk> b");
  const std::vector<Piece> fused = {{1, 0, 1}, {0, 1, 4}, {2, 4, 5}};
  EXPECT_EQ(cut(model, "aéxb"), fused);
  EXPECT_ERROR(cut(Unigram({"a"}, {-1.0}), "b"), "there is no unknown token");
  EXPECT_ERROR(Unigram({"a"}, {}), "got 0 scores");
}

TEST(WordLevel, AWordIsInTheVocabularyOrUnknown) {
  EXPECT_EQ(tokens(WordLevel({"<unk>", "cat"}), "cat"), "cat");
  EXPECT_EQ(tokens(WordLevel({"<unk>", "cat"}), "dog"), "<unk>");
  EXPECT_ERROR(cut(WordLevel({"cat"}), "dog"), "\"dog\" is not in the vocabulary");
}

}  // namespace
}  // namespace attend::test
