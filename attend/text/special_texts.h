// Special tokens for the training of a tokenizer: their names, their ids, and their positions around a text.
#pragma once
#include <string>
#include <vector>

#include "attend/text/tokenizer_parts.h"

namespace attend {

/// The text of each special token. Empty: the tokenizer has no such token. The special tokens get the first ids, in
/// this order. Equal texts are one token.
struct SpecialTexts {
  std::string padding{}, unknown{}, bos{}, eos{}, classify{}, separator{}, mask{};
  std::vector<std::string> more{};  ///< further special tokens, such as ">>fr<<"

  std::vector<std::string> all() const;
};

/// A vocabulary of the special tokens, followed by the other tokens.
Vocabulary vocabulary_of(const SpecialTexts& special, const std::vector<std::string>& others);

/// Sets the special tokens of a tokenizer whose vocabulary already has them: their roles, the post-processor ([CLS] …
/// [SEP] if there are such tokens, eos with `append_eos`), and the added tokens.
void set_special(Tokenizer::Parts& parts, const SpecialTexts& texts, bool append_eos);

}  // namespace attend
