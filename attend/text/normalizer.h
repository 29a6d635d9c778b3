// What is done to a text before it is cut: cleaned, lower-cased, composed. The steps and their fields are those of
// tokenizer.json, so that reading and writing it is a copy.
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

/// BERT's: control characters go, all white space becomes a space, spaces around CJK ideographs, no accents, lower
/// case.
struct Bert {
  bool clean_text = true;
  bool handle_chinese_chars = true;
  std::optional<bool> strip_accents{};  ///< as lowercase says, unless given
  bool lowercase = true;
};
using Form = NormalForm;
struct Unicode {
  Form form = Form::nfc;
};
struct Lowercase {};
/// Removes combining marks; wants decomposed text (NFD, NFKD).
struct StripAccents {};
/// Removes white space at the ends.
struct Strip {
  bool left = true, right = true;
};
struct Replace {
  Pattern pattern;
  std::string content;
};
/// Puts a string before a text that is not empty.
struct Prepend {
  std::string prepend;
};
/// SentencePiece's compiled map: 4 bytes of trie size, a double-array trie, the replacements, each ended by a zero.
struct Precompiled {
  std::string charsmap;  ///< the bytes, decoded from base64
};
/// SentencePiece's clean-up: some control characters go, others and odd spaces become a space.
struct Nmt {};
/// Bytes as letters of the byte alphabet (byte_level.h).
struct ByteLevel {};

using Step = std::variant<Bert, Unicode, Lowercase, StripAccents, Strip, Replace, Prepend, Precompiled, Nmt, ByteLevel>;

}  // namespace normalizer

/// One after the other. None: the text stays as it is. (A "Sequence" of tokenizer.json is its steps.)
using Normalizer = std::vector<normalizer::Step>;

void normalize(const Normalizer& normalizer, AlignedText& text);
/// The same for text whose origin nobody asks for.
std::string normalized(const Normalizer& normalizer, std::string_view text);

}  // namespace attend
