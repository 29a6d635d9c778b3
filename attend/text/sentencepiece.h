// SentencePiece models: the file itself, read by us, and encoding by SentencePiece's own library, which no header
// shows.
#pragma once
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "attend/text/piece.h"
#include "attend/text/vocabulary.h"

namespace attend {

/// What a model file (.spm, spiece.model) says; its format is sentencepiece_model.proto.
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
  std::string charsmap;  ///< of the normaliser (normalizer::Precompiled); empty: none
};
/// Throws InputError for anything but a complete model whose maps lead nowhere outside. `file` is for messages.
SentencePieceFile read_sentencepiece(std::string_view bytes, const std::string& file);

/// A translation model has a SentencePiece model a side and one vocabulary for both. Pieces that are not in it are
/// unknown. A language code before a text (>>fr<<) is a token of its own. So does Marian, and so does transformers.
class SentencePiece {
 public:
  /// The bytes of both files. Throws InputError where the library refuses one, or <unk> is not in the vocabulary.
  SentencePiece(Vocabulary vocabulary, std::string source, std::string target, const std::string& folder);

  /// The same tokenizer for texts of the other side.
  SentencePiece for_target() const;

  const Vocabulary& vocabulary() const { return *vocabulary_; }
  const std::string& source_file() const;
  const std::string& target_file() const;
  void encode(std::string_view text, std::vector<Piece>& pieces) const;

 private:
  struct Library;
  std::shared_ptr<const Vocabulary> vocabulary_;
  std::shared_ptr<const Library> source_, target_, used_;
  std::int32_t unknown_ = 0;
};

/// Pieces as text: "▁" is a space, none at the ends. A special token has a space after it.
std::string join_pieces(const std::vector<std::string>& tokens, const std::vector<std::string>& special_tokens);

}  // namespace attend
