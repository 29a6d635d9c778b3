// The special tokens around one text or two, and spans without the spaces that belong to tokens. Steps and fields as in
// tokenizer.json.
#pragma once
#include <cstdint>
#include <string>
#include <variant>
#include <vector>

namespace attend {

namespace post_processor {

struct Token {
  std::string token;
  std::int32_t id = 0;
};
/// [CLS] first [SEP] second [SEP]
struct Bert {
  Token sep{"[SEP]", 102}, cls{"[CLS]", 101};
};
/// <s> first </s></s> second </s>
struct Roberta {
  Token sep{"</s>", 2}, cls{"<s>", 0};
  bool trim_offsets = true;
  bool add_prefix_space = true;
};
/// Adds nothing.
struct ByteLevel {
  bool add_prefix_space = true;
  bool trim_offsets = true;  ///< spans without the white space at the tokens' ends
  bool use_regex = true;     ///< kept for the file
};
/// Any order of texts and special tokens.
struct Template {
  struct Piece {
    enum Kind { first, second, special } kind = first;  ///< "A", "B", or a special token
    std::string special_token;                          ///< its name in special_tokens
    std::int32_t type_id = 0;
  };
  /// A special token may stand for several.
  struct Special {
    std::string id;
    std::vector<std::int32_t> ids;
    std::vector<std::string> tokens;
  };
  std::vector<Piece> single, pair;
  std::vector<Special> special_tokens;
};

using Step = std::variant<Bert, Roberta, ByteLevel, Template>;

}  // namespace post_processor

/// One after the other. None: texts follow one another with nothing between.
using PostProcessor = std::vector<post_processor::Step>;

/// What a sequence is made of, in order: a text, or a special token.
struct LayoutSlot {
  int text;         ///< 0 or 1; -1: a special token
  std::int32_t id;  ///< the special token's
  std::int32_t type;
};
/// The layout of one text or of a pair. Throws InputError where a template names a special token that it does not have.
std::vector<LayoutSlot> layout(const PostProcessor& processor, bool pair, bool special_tokens);

/// Whether spans leave out the white space at the ends of tokens.
struct Trimming {
  bool trims = false;
  bool keeps_first = false;  ///< except where a text begins, since that space was put there
};
Trimming trimming(const PostProcessor& processor);

}  // namespace attend
