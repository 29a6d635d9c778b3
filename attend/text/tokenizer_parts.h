// What a Tokenizer is made of: what readers and trainers fill in, and writers take apart.
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

/// A token that is found in the text before anything else happens to it. Its id may be one of the model's or beyond.
struct AddedToken {
  std::string content;
  std::int32_t id = 0;
  bool single_word = false;  ///< only where no word character touches it
  bool lstrip = false;       ///< takes the white space before it
  bool rstrip = false;       ///< takes the white space after it
  bool normalized = true;    ///< found in the normalised text, itself normalised
  bool special = false;      ///< left out when decoding
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
  std::int64_t max_tokens = 0;  ///< what the model can take; 0: not known
};

}  // namespace attend
