// The post-processor of a tokenizer adds special tokens around one text or a pair, and trims white space from spans.
// The steps and their fields are those of tokenizer.json.
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
/// Adds no tokens.
struct ByteLevel {
  bool add_prefix_space = true;
  bool trim_offsets = true;  ///< remove white space from the ends of spans
  bool use_regex = true;     ///< not used; kept for saving
};
/// A template of texts and special tokens.
struct Template {
  struct Piece {
    enum Kind { first, second, special } kind = first;  ///< "A", "B", or a special token
    std::string special_token;                          ///< its name in special_tokens
    std::int32_t type_id = 0;
  };
  /// A special token of the template can stand for several tokens.
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

/// Steps are applied in order. Without steps, the second text follows the first directly.
using PostProcessor = std::vector<post_processor::Step>;

/// An element of a sequence: a text, or a special token.
struct LayoutSlot {
  int text;         ///< 0 or 1; -1: a special token
  std::int32_t id;  ///< of the special token
  std::int32_t type;
};
/// The layout of one text or of a pair. Throws InputError if a template uses a special token that it does not define.
std::vector<LayoutSlot> layout(const PostProcessor& processor, bool pair, bool special_tokens);

/// Whether white space is removed from the ends of spans.
struct Trimming {
  bool trims = false;
  bool keeps_first = false;  ///< except at the beginning of a text, where the space was added by the pre-tokenizer
};
Trimming trimming(const PostProcessor& processor);

}  // namespace attend
