// The pre-tokenizer splits a normalized text into words. The subword model then splits the words into tokens. The steps
// and their fields are those of tokenizer.json.
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

/// Splits at white space, which is removed. Each punctuation mark is a word.
struct Bert {};
/// Splits by GPT-2's regular expression, then converts each byte to a letter of the byte alphabet (byte_level.h).
struct ByteLevel {
  bool add_prefix_space = true;  ///< add a space before the text unless it begins with one
  bool trim_offsets = true;      ///< not used here; kept for saving
  bool use_regex = true;
};
/// Words of letters, digits and underscores, and runs of all other characters except white space.
struct Whitespace {};
struct WhitespaceSplit {};
/// What happens to the separator.
enum class Behavior { removed, isolated, merged_with_previous, merged_with_next, contiguous };
struct Punctuation {
  Behavior behavior = Behavior::isolated;
};
struct Digits {
  bool individual_digits = false;
};
/// Replaces spaces by `replacement`. Each word begins with it.
struct Metaspace {
  std::string replacement = "▁";
  enum class Prepend { always, never, first } prepend_scheme = Prepend::always;
  bool split = true;
};
struct Split {
  Pattern pattern;
  Behavior behavior = Behavior::isolated;
  bool invert = false;  ///< the matches are the words, and the text between them is the separator
};
/// Splits at a character, which is removed.
struct CharDelimiterSplit {
  std::string delimiter;
};

using Step = std::variant<Bert, ByteLevel, Whitespace, WhitespaceSplit, Punctuation, Digits, Metaspace, Split,
                          CharDelimiterSplit>;

}  // namespace pre_tokenizer

/// Each step splits the words of the step before. Without steps, the text is one word.
using PreTokenizer = std::vector<pre_tokenizer::Step>;

/// Bytes [begin, end) of a normalized text: a word, or an added token.
struct Word {
  std::size_t begin, end;
  std::int32_t added = -1;  ///< the id of the added token; -1: a word
};
/// Splits words that are not empty into smaller ones, and drops text that belongs to no word. Steps may change the
/// text. `offset` is the position of the text's original in the whole text. With `keep_bytes`, a final ByteLevel step
/// does not convert bytes to letters, for Bpe::encode_bytes.
void pre_tokenize(const PreTokenizer& pre_tokenizer, AlignedText& text, std::vector<Word>& words, std::int64_t offset,
                  bool keep_bytes);

/// The end of the word at text[at] according to GPT-2's regular expression:
/// 's|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+
std::size_t gpt2_word_end(std::string_view text, std::size_t at);

}  // namespace attend
