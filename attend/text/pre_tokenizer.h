// How a normalised text is cut into words, which the subword model then cuts further. Steps and fields as in
// tokenizer.json.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "attend/text/pattern.h"

namespace attend {

class AlignedText;

namespace pre_tokenizer {

/// White space separates and goes; each punctuation mark is a word.
struct Bert {};
/// Each byte becomes a letter of the byte alphabet (byte_level.h), after GPT-2's expression cut the text.
struct ByteLevel {
  bool add_prefix_space = true;  ///< unless the text begins with one
  bool trim_offsets = true;      ///< kept for the file; the post-processor of that name trims
  bool use_regex = true;
};
/// Words of letters, digits and underscores, and runs of anything else but white space.
struct Whitespace {};
struct WhitespaceSplit {};
/// What becomes of the separator.
enum class Behavior { removed, isolated, merged_with_previous, merged_with_next, contiguous };
struct Punctuation {
  Behavior behavior = Behavior::isolated;
};
struct Digits {
  bool individual_digits = false;
};
/// Spaces become `replacement`, each word begins with one.
struct Metaspace {
  std::string replacement = "▁";
  enum class Prepend { always, never, first } prepend_scheme = Prepend::always;
  bool split = true;
};
struct Split {
  Pattern pattern;
  Behavior behavior = Behavior::isolated;
  bool invert = false;  ///< the matches are the words, what is between them separates
};
/// Cuts at one character, which goes.
struct CharDelimiterSplit {
  std::string delimiter;
};

using Step = std::variant<Bert, ByteLevel, Whitespace, WhitespaceSplit, Punctuation, Digits, Metaspace, Split,
                          CharDelimiterSplit>;

}  // namespace pre_tokenizer

/// One after the other, each cutting what the one before left. None: the text is one word.
using PreTokenizer = std::vector<pre_tokenizer::Step>;

/// Bytes [begin, end) of a normalised text, which are to be cut further, or are an added token.
struct Word {
  std::size_t begin, end;
  std::int32_t added = -1;  ///< the added token's id
};
/// Cuts words that are not empty into smaller ones; what belongs to none is lost. Steps may change the text.
/// offset: where the text's original stands in the whole text. With `keep_bytes`, a last step ByteLevel leaves the
/// bytes as they are, for Bpe::encode_bytes.
void pre_tokenize(const PreTokenizer& pre_tokenizer, AlignedText& text, std::vector<Word>& words, std::int64_t offset,
                  bool keep_bytes);

/// The end of the word that begins at text[at] by GPT-2's expression:
/// 's|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+
std::size_t gpt2_word_end(std::string_view text, std::size_t at);

}  // namespace attend
