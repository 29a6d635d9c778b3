// SentencePiece models: a reader of the model file, and encoding with the SentencePiece library. Only the .cpp file
// includes the library.
#pragma once
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "attend/text/bpe.h"
#include "attend/text/piece.h"
#include "attend/text/vocabulary.h"

namespace attend {

/// The contents of a model file (.spm, spiece.model). The format is sentencepiece_model.proto.
struct SentencePieceFile {
  enum class Kind { normal = 1, unknown = 2, control = 3, user_defined = 4, unused = 5, byte = 6 };
  struct Piece {
    std::string text;
    float score = 0;
    Kind kind = Kind::normal;
  };
  enum class Model { unigram = 1, bpe = 2, word = 3, character = 4 };

  std::vector<Piece> pieces;  ///< by id
  Model model = Model::unigram;
  bool byte_fallback = false;
  bool dummy_prefix = true;  ///< a space is put before a text
  std::string charsmap;      ///< for normalizer::Precompiled; empty: none
};
/// Throws InputError if the model is incomplete or its maps point out of bounds. `file` is used in messages.
SentencePieceFile read_sentencepiece(std::string_view bytes, const std::string& file);
/// The merges of a BPE model: all divisions of a normal piece into two tokens of the vocabulary, those of the piece
/// with the highest score first. Piece i is token i. Pieces of more than 256 bytes have none.
std::vector<BpeMerge> merges_by_score(const Vocabulary& vocabulary, std::span<const SentencePieceFile::Piece> pieces);

/// SentencePiece models with a vocabulary of their own ids. Marian has one model for each language, and one vocabulary
/// for both; a language code before a text (>>fr<<) is one token, as in transformers. M2M-100 has one model. Tokens
/// that are not in the vocabulary are unknown.
class SentencePiece {
 public:
  /// Takes the bytes of both files. Throws InputError if the library rejects one, or if <unk> is not in the vocabulary.
  SentencePiece(Vocabulary vocabulary, std::string source, std::string target, const std::string& folder);
  /// The same with the model of M2M-100.
  SentencePiece(Vocabulary vocabulary, std::string model, const std::string& folder);

  /// The same tokenizer for texts in the target language.
  SentencePiece for_target() const;

  const Vocabulary& vocabulary() const { return *vocabulary_; }
  bool has_two_models() const { return source_ != target_; }
  const std::string& source_file() const;
  const std::string& target_file() const;
  void encode(std::string_view text, std::vector<Piece>& pieces) const;

 private:
  struct Library;
  void find_unknown(const std::string& folder);

  std::shared_ptr<const Vocabulary> vocabulary_;
  std::shared_ptr<const Library> source_, target_, used_;
  std::int32_t unknown_ = 0;
};

/// Joins tokens to text: "▁" becomes a space, except at the ends. With `spaced`, a special token is followed by a
/// space.
std::string join_pieces(const std::vector<std::string>& tokens, const std::vector<std::string>& special_tokens,
                        bool spaced = true);

}  // namespace attend
