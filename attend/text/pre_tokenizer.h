// How a normalised text is cut into words, which the subword model then cuts further. Steps and fields as in
// tokenizer.json.
#pragma once
#include <cstdint>
#include <string>
#include <variant>
#include <vector>

#include "attend/text/pattern.h"

namespace attend {

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

}  // namespace attend
