#include "attend/text/word_level.h"

#include "attend/core/error.h"

namespace attend {

WordLevel::WordLevel(Vocabulary vocabulary, WordLevelOptions options)
    : vocabulary_(std::move(vocabulary)),
      options_(std::move(options)),
      unknown_(vocabulary_.id(options_.unk_token).value_or(-1)) {}

void WordLevel::encode(std::string_view word, std::vector<Piece>& pieces) const {
  const std::int32_t id = vocabulary_.id(word).value_or(unknown_);
  if (id < 0)
    fail<InputError>("tokenizer", "the word \"", word,
                     "\" is not in the vocabulary, and neither is the unknown token \"", options_.unk_token, '"');
  pieces.push_back({id, 0, static_cast<std::uint32_t>(word.size())});
}

}  // namespace attend
