// UTF-8, and what Unicode knows about code points: categories, normal forms, case. Text is UTF-8 in std::string
// everywhere in Attend; positions in it are bytes.
#pragma once
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace attend {

/// What stands for bytes that are not UTF-8.
constexpr char32_t kReplacement = 0xFFFD;

/// One code point, and the bytes it takes.
struct CodePoint {
  char32_t value;
  int size;
  bool valid;
};
/// The code point at text[at], at < text.size(). Where the bytes are no UTF-8 (cut, overlong, a surrogate, beyond
/// U+10FFFF) it is kReplacement, and as many bytes as a decoder that follows the Unicode standard replaces at once.
CodePoint decode_utf8(std::string_view text, std::size_t at);
/// Appends the UTF-8 of a code point.
void append_utf8(char32_t code_point, std::string& text);

/// Bytes at the end of text that begin a code point but do not finish it: 0 to 3.
std::size_t unfinished_utf8(std::string_view text);
/// How many sequences in text are not UTF-8. 0: the text is valid. Runs at memory speed on ASCII.
std::int64_t count_invalid_utf8(std::string_view text);
/// text with each invalid sequence replaced by U+FFFD.
std::string replace_invalid_utf8(std::string_view text);

/// How many code points a valid text has.
std::int64_t count_code_points(std::string_view text);

}  // namespace attend
