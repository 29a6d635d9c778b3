// A vocabulary of whole words. A word that is not in it is unknown.
#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "attend/text/piece.h"
#include "attend/text/vocabulary.h"

namespace attend {

struct WordLevelOptions {
  std::string unk_token = "<unk>";
};

class WordLevel {
 public:
  WordLevel() = default;
  explicit WordLevel(Vocabulary vocabulary, WordLevelOptions options = {});

  const Vocabulary& vocabulary() const { return vocabulary_; }
  const WordLevelOptions& options() const { return options_; }
  /// Throws InputError for an unknown word if unk_token is not in the vocabulary.
  void encode(std::string_view word, std::vector<Piece>& pieces) const;

 private:
  Vocabulary vocabulary_;
  WordLevelOptions options_;
  std::int32_t unknown_ = -1;
};

}  // namespace attend
