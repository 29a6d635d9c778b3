#include "attend/text/shown_token.h"

#include <string_view>

#include "attend/text/byte_level.h"
#include "attend/text/printable.h"
#include "attend/text/tokenizer_parts.h"
#include "attend/text/unicode.h"

namespace attend {
namespace {

/// Converts letters of the byte alphabet to bytes.
std::string bytes_of(std::string_view letters) {
  std::string bytes;
  for (std::size_t at = 0; at < letters.size();) {
    const CodePoint letter = decode_utf8(letters, at);
    if (const auto byte = byte_of_letter(letter.value))
      bytes += static_cast<char>(*byte);
    else
      bytes += letters.substr(at, static_cast<std::size_t>(letter.size));
    at += static_cast<std::size_t>(letter.size);
  }
  return bytes;
}

/// Replaces SentencePiece's "▁" by a space.
std::string with_spaces(std::string_view token) {
  constexpr std::string_view kSpace = "▁";
  std::string text;
  for (std::size_t at; (at = token.find(kSpace)) != token.npos; token.remove_prefix(at + kSpace.size())) {
    text += token.substr(0, at);
    text += ' ';
  }
  return text.append(token);
}

}  // namespace

std::string shown_token(const Tokenizer& tokenizer, std::int32_t id) {
  std::string token = tokenizer.token(id);
  if (tokenizer.is_special(id)) return printable(token);
  for (const decoder::Step& step : tokenizer.parts().decoder) {
    if (std::holds_alternative<decoder::ByteLevel>(step)) return printable(bytes_of(token));
    if (const auto* bpe = std::get_if<decoder::Bpe>(&step); bpe && token.ends_with(bpe->suffix))
      token.resize(token.size() - bpe->suffix.size());
  }
  return printable(with_spaces(token));
}

}  // namespace attend
