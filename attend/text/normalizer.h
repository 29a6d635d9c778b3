// The normalizer of a tokenizer changes a text before it is split: it cleans, lower-cases, composes accents and so on.
// The steps and their fields are those of tokenizer.json.
#pragma once
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "attend/text/pattern.h"
#include "attend/text/unicode.h"

namespace attend {

class AlignedText;

namespace normalizer {

/// BERT's: removes control characters, converts white space to spaces, puts spaces around CJK ideographs, removes
/// accents, and converts to lower case.
struct Bert {
  bool clean_text = true;
  bool handle_chinese_chars = true;
  std::optional<bool> strip_accents{};  ///< default: the value of `lowercase`
  bool lowercase = true;
};
using Form = NormalForm;
struct Unicode {
  Form form = Form::nfc;
};
struct Lowercase {};
/// Removes combining marks. The text must be decomposed (NFD, NFKD).
struct StripAccents {};
/// Removes white space at the beginning and at the end.
struct Strip {
  bool left = true, right = true;
};
struct Replace {
  Pattern pattern;
  std::string content;
};
/// Adds a string before a text that is not empty.
struct Prepend {
  std::string prepend;
};
/// SentencePiece's compiled map: the size of the trie (4 bytes), a double-array trie, and zero-terminated replacements.
struct Precompiled {
  std::string charsmap;  ///< the bytes, decoded from base64
};
/// SentencePiece's clean-up: removes some control characters; others, and unusual spaces, become a space.
struct Nmt {};
/// Converts bytes to letters of the byte alphabet (byte_level.h).
struct ByteLevel {};

using Step = std::variant<Bert, Unicode, Lowercase, StripAccents, Strip, Replace, Prepend, Precompiled, Nmt, ByteLevel>;

}  // namespace normalizer

/// Steps are applied in order. Without steps, the text is not changed. (A "Sequence" of tokenizer.json becomes its
/// steps.)
using Normalizer = std::vector<normalizer::Step>;

void normalize(const Normalizer& normalizer, AlignedText& text);
/// The same without origins.
std::string normalized(const Normalizer& normalizer, std::string_view text);

}  // namespace attend
