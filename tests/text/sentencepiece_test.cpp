#include "attend/text/sentencepiece.h"

#include <gtest/gtest.h>

#include "tests/support/errors.h"
#include "tests/text/golden_texts.h"

namespace attend::test {
namespace {

SentencePiece marian(const std::string& source) {
  return SentencePiece({"<unk>", "</s>", "▁The", "▁child", ">>fr<<"}, source,
                       read_file(fixture("marian") / "target.spm"), "folder");
}

TEST(SentencePiece, ReadsAModelFile) {
  const std::string bytes = read_file(fixture("t5_spm") / "spiece.model");
  const SentencePieceFile file = read_sentencepiece(bytes, "file");
  EXPECT_EQ(file.pieces.size(), 196u);
  EXPECT_EQ(file.pieces[2].text, "<unk>");
  EXPECT_EQ(file.pieces[2].kind, SentencePieceFile::Kind::unknown);
  EXPECT_EQ(file.pieces[1].kind, SentencePieceFile::Kind::control);
  EXPECT_EQ(file.model, SentencePieceFile::Model::unigram);
  EXPECT_FALSE(file.charsmap.empty());
}

TEST(SentencePiece, TokensHaveTheirPositions) {
  const SentencePiece model = marian(read_file(fixture("marian") / "source.spm"));
  std::vector<Piece> pieces;
  model.encode(">>fr<< The  child", pieces);
  EXPECT_EQ(pieces, (std::vector<Piece>{{4, 0, 6}, {2, 7, 10}, {3, 10, 17}}));
}

TEST(SentencePiece, JoinsPiecesWithASpaceAfterSpecialTokens) {
  EXPECT_EQ(join_pieces({"▁The", "▁ch", "ild", "</s>"}, {"</s>"}), "The child</s>");
  EXPECT_EQ(join_pieces({"▁a", "<unk>", "b", "▁▁c"}, {"<unk>"}), "a<unk> b  c");
  EXPECT_EQ(join_pieces({}, {}), "");
}

/// A truncated file, or one with a changed byte, is read or gives an error. It must never crash the library.
TEST(SentencePiece, DamagedFilesAreErrorsOrWork) {
  const std::string whole = read_file(fixture("marian") / "source.spm");
  const auto attempt = [](const std::string& bytes) {
    try {
      std::vector<Piece> pieces;
      marian(bytes).encode("The child ﬁnds 東京 … e\u0301", pieces);
    } catch (const InputError& error) {
      EXPECT_NE(std::string(error.what()).find("folder/source.spm: not a SentencePiece model"), std::string::npos)
          << error.what();
    }
  };
  for (std::size_t size = 0; size < whole.size(); size += 97) attempt(whole.substr(0, size));
  for (std::size_t at = 0; at < whole.size(); at += 13) {
    std::string changed = whole;
    changed[at] = static_cast<char>(changed[at] ^ 0x5A);
    attempt(changed);
  }
}

}  // namespace
}  // namespace attend::test
