// The special tokens of a tokenizer in the making: what they are called, their ids, and where they stand around a text.
#pragma once
#include <string>
#include <vector>

#include "attend/text/tokenizer_parts.h"

namespace attend {

/// How each special token is written. Empty: the tokenizer has none. They get the first ids, in this order; those that
/// are written alike are one token.
struct SpecialTexts {
  std::string padding{}, unknown{}, bos{}, eos{}, classify{}, separator{}, mask{};
  std::vector<std::string> more{};  ///< that are found whole in a text, such as ">>fr<<"

  std::vector<std::string> all() const;
};

/// The special tokens, then the others that are not among them.
Vocabulary vocabulary_of(const SpecialTexts& special, const std::vector<std::string>& others);

/// Adds the tokens to the parts, whose model has them already: their roles; what surrounds a text ([CLS] … [SEP] where
/// there are such tokens, with `append_eos` also the end of the text), and that they are found whole in a text.
void set_special(Tokenizer::Parts& parts, const SpecialTexts& texts, bool append_eos);

}  // namespace attend
