// The parts of a Tokenizer. Readers and trainers make them, and writers save them.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "attend/text/decoder.h"
#include "attend/text/normalizer.h"
#include "attend/text/post_processor.h"
#include "attend/text/pre_tokenizer.h"
#include "attend/text/subword_model.h"
#include "attend/text/tokenizer.h"

namespace attend {

/// A token that is found in the text before the pre-tokenizer runs. Its id may be in the model's vocabulary or above
/// it.
struct AddedToken {
  std::string content;
  std::int32_t id = 0;
  bool single_word = false;  ///< match only if no word character is next to it
  bool lstrip = false;       ///< include the white space before it
  bool rstrip = false;       ///< include the white space after it
  bool normalized = true;    ///< match in the normalized text, with the normalized content
  bool special = false;      ///< skipped by decode()
  bool operator==(const AddedToken&) const = default;
};

struct Tokenizer::Parts {
  Normalizer normalizer;
  PreTokenizer pre_tokenizer;
  SubwordModel model;
  PostProcessor post_processor;
  Decoder decoder;
  std::vector<AddedToken> added_tokens;
  SpecialTokens special;
  std::int64_t max_tokens = 0;  ///< of the model; 0: not known
  LanguageTokens languages;
  const LanguageScheme* language_scheme = nullptr;  ///< of `languages`; null if there are none
  bool source_language_last = false;                ///< a source is "X </s> [language]"
};

}  // namespace attend
