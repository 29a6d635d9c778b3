#include "attend/text/wordpiece.h"

#include <algorithm>

#include "attend/core/error.h"
#include "attend/text/unicode.h"

namespace attend {

WordPiece::WordPiece(Vocabulary vocabulary, WordPieceOptions options)
    : vocabulary_(std::move(vocabulary)), options_(std::move(options)) {
  const auto unknown = vocabulary_.id(options_.unk_token);
  if (!unknown)
    fail<InputError>("tokenizer", "the unknown token \"", options_.unk_token, "\" is not in the vocabulary");
  unknown_ = *unknown;
  for (std::int32_t id = 0; id < vocabulary_.size(); ++id) longest_ = std::max(longest_, vocabulary_.token(id).size());
}

void WordPiece::encode(std::string_view word, std::vector<Piece>& pieces) const {
  const std::size_t first = pieces.size();
  const auto size = static_cast<std::uint32_t>(word.size());
  const auto give_up = [&] {
    pieces.resize(first);
    pieces.push_back({unknown_, 0, size});
  };
  if (count_code_points(word) > options_.max_input_chars_per_word) return give_up();
  static thread_local std::string rest;
  for (std::uint32_t begin = 0; begin < size;) {
    const std::size_t prefix = begin > 0 ? options_.continuing_subword_prefix.size() : 0;
    rest.assign(options_.continuing_subword_prefix, 0, prefix);
    rest += word.substr(begin);
    std::size_t length = std::min(rest.size(), longest_);
    std::optional<std::int32_t> id;
    for (; length > prefix; --length) {
      const bool whole = length == rest.size() || (rest[length] & 0xC0) != 0x80;
      if (whole && (id = vocabulary_.id(std::string_view(rest).substr(0, length)))) break;
    }
    if (!id) return give_up();
    const auto end = static_cast<std::uint32_t>(begin + length - prefix);
    pieces.push_back({*id, begin, end});
    begin = end;
  }
}

}  // namespace attend
