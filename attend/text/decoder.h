// From tokens back to text. Steps and fields as in tokenizer.json.
#pragma once
#include <cstdint>
#include <span>
#include <string>
#include <variant>
#include <vector>

#include "attend/text/pattern.h"
#include "attend/text/pre_tokenizer.h"

namespace attend {

namespace decoder {

/// Letters of the byte alphabet become bytes; what is then no UTF-8 becomes U+FFFD.
struct ByteLevel {};
/// Words are joined by spaces, pieces that begin with the prefix by nothing.
struct WordPiece {
  std::string prefix = "##";
  bool cleanup = true;  ///< no space before punctuation and in contractions
};
struct Metaspace {
  std::string replacement = "▁";
  pre_tokenizer::Metaspace::Prepend prepend_scheme = pre_tokenizer::Metaspace::Prepend::always;
  bool split = true;
};
/// The suffix becomes a space, except at the end.
struct Bpe {
  std::string suffix = "</w>";
};
/// Joins all tokens into one.
struct Fuse {};
/// <0x61> becomes the byte; runs that are no UTF-8 become U+FFFD, one a byte.
struct ByteFallback {};
struct Replace {
  Pattern pattern;
  std::string content;
};
/// Takes up to `start` and `stop` times the character off each token's ends.
struct Strip {
  std::string content = " ";
  std::int64_t start = 0, stop = 0;
};
/// As transformers joins the pieces of a SentencePiece model (join_pieces); not in tokenizer.json.
struct SentencePiece {
  std::vector<std::string> special_tokens;
};

using Step = std::variant<ByteLevel, WordPiece, Metaspace, Bpe, Fuse, ByteFallback, Replace, Strip, SentencePiece>;

}  // namespace decoder

/// One after the other. None: tokens are joined by spaces.
using Decoder = std::vector<decoder::Step>;

/// The text of some tokens.
std::string decode_tokens(const Decoder& decoder, std::vector<std::string> tokens);
/// How many tokens at the end hold the beginning of a character that is not finished.
std::size_t unfinished_tokens(const Decoder& decoder, std::span<const std::string> tokens);

}  // namespace attend
