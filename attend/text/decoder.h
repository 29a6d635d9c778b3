// Converts tokens back to text. The steps and their fields are those of tokenizer.json.
#pragma once
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "attend/text/pattern.h"
#include "attend/text/pre_tokenizer.h"

namespace attend {

namespace decoder {

/// Converts letters of the byte alphabet to bytes. Invalid UTF-8 becomes U+FFFD.
struct ByteLevel {};
/// Joins tokens with spaces; a token with the prefix is joined without a space.
struct WordPiece {
  std::string prefix = "##";
  bool cleanup = true;  ///< removes spaces before punctuation and in contractions
};
struct Metaspace {
  std::string replacement = "▁";
  pre_tokenizer::Metaspace::Prepend prepend_scheme = pre_tokenizer::Metaspace::Prepend::always;
  bool split = true;
};
/// Replaces the suffix by a space, except at the end.
struct Bpe {
  std::string suffix = "</w>";
};
/// Joins all tokens into one.
struct Fuse {};
/// Converts <0x61> to the byte. A run of bytes that is not valid UTF-8 becomes one U+FFFD for each byte.
struct ByteFallback {};
struct Replace {
  Pattern pattern;
  std::string content;
};
/// Removes the character up to `start` times from the beginning, and up to `stop` times from the end of each token.
struct Strip {
  std::string content = " ";
  std::int64_t start = 0, stop = 0;
};
/// Joins SentencePiece tokens as transformers does (join_pieces). This step is not in tokenizer.json.
struct SentencePiece {
  std::vector<std::string> special_tokens;
  bool spaced = true;  ///< a special token is followed by a space
};

using Step = std::variant<ByteLevel, WordPiece, Metaspace, Bpe, Fuse, ByteFallback, Replace, Strip, SentencePiece>;

}  // namespace decoder

/// Steps are applied in order. Without steps, tokens are joined with spaces.
using Decoder = std::vector<decoder::Step>;

/// Converts tokens to text.
std::string decode_tokens(const Decoder& decoder, std::vector<std::string> tokens);
/// The byte of "<0x61>", or none.
std::optional<char> fallback_byte(std::string_view token);
/// The bytes of a token in the byte alphabet. A token with other letters is an added token, which is plain text.
std::string bytes_of_token(const std::string& token);
/// The number of tokens at the end whose text may change with the next token: those of an incomplete character, or a
/// run of byte tokens.
std::size_t unfinished_tokens(const Decoder& decoder, std::span<const std::string> tokens);

}  // namespace attend
