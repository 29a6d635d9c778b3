// WordPiece: takes the longest matching token of the vocabulary, from left to right. A word that cannot be split in
// this way, or that is too long, becomes one unknown token.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "attend/text/piece.h"
#include "attend/text/vocabulary.h"

namespace attend {

struct WordPieceOptions {
  std::string unk_token = "[UNK]";
  std::string continuing_subword_prefix = "##";
  std::int64_t max_input_chars_per_word = 100;
};

class WordPiece {
 public:
  WordPiece() = default;
  /// Throws InputError if unk_token is not in the vocabulary.
  explicit WordPiece(Vocabulary vocabulary, WordPieceOptions options = {});

  const Vocabulary& vocabulary() const { return vocabulary_; }
  const WordPieceOptions& options() const { return options_; }
  void encode(std::string_view word, std::vector<Piece>& pieces) const;

 private:
  Vocabulary vocabulary_;
  WordPieceOptions options_;
  std::int32_t unknown_ = 0;
  std::size_t longest_ = 0;  // size of the longest token in bytes
};

}  // namespace attend
