// UTF-8, and Unicode properties of code points: categories, normal forms, case. Everywhere in Attend, text is UTF-8 in
// std::string, and positions in it are in bytes.
#pragma once
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace attend {

/// Replaces invalid UTF-8.
constexpr char32_t kReplacement = 0xFFFD;

/// A code point, and its size in bytes.
struct CodePoint {
  char32_t value;
  int size;
  bool valid;
};
/// The code point at text[at], at < text.size(). For invalid UTF-8 (incomplete, overlong, a surrogate, above U+10FFFF)
/// it is kReplacement, and the size is the number of bytes that the Unicode standard recommends to replace at once.
CodePoint decode_utf8(std::string_view text, std::size_t at);
/// Appends a code point in UTF-8.
void append_utf8(char32_t code_point, std::string& text);

/// The number of bytes of an incomplete code point at the end of the text: 0 to 3.
std::size_t unfinished_utf8(std::string_view text);
/// The number of invalid UTF-8 sequences. 0: the text is valid. ASCII is checked at memory speed.
std::int64_t count_invalid_utf8(std::string_view text);
/// Replaces each invalid sequence by U+FFFD.
std::string replace_invalid_utf8(std::string_view text);

/// The number of code points of a valid text.
std::int64_t count_code_points(std::string_view text);

/// Properties of a code point, as bits. They agree with Hugging Face's tokenizers, whose parts use different versions
/// of Unicode.
namespace property {
enum Property : std::uint16_t {
  kLetter = 1 << 0,          ///< \p{L}
  kNumber = 1 << 1,          ///< \p{N}
  kWhiteSpace = 1 << 2,      ///< \s
  kControl = 1 << 3,         ///< removed by BERT's clean-up
  kPunctuation = 1 << 4,     ///< of BERT, which includes all ASCII symbols
  kNonspacingMark = 1 << 5,  ///< accents that BERT removes
  kMark = 1 << 6,            ///< all combining marks
  kDigit = 1 << 7,           ///< of the pre-tokenizer Digits
  kWord = 1 << 8,            ///< \w
  kChinese = 1 << 9,         ///< CJK ideographs, by BERT's ranges
  kCanonical = 1 << 10,      ///< has a canonical decomposition
  kCompatible = 1 << 11,     ///< has a canonical or compatibility decomposition
};
}  // namespace property
/// The properties of a code point.
std::uint16_t properties(char32_t code_point);
inline bool is_space(char32_t code_point) { return properties(code_point) & property::kWhiteSpace; }
/// Unicode's general category, two letters: "Lu".
const char* category(char32_t code_point);

/// Lower case of a single code point, without context. Only İ becomes two code points.
struct LowerCase {
  char32_t first, second;  ///< second is 0 if there is none
};
LowerCase lower_case(char32_t code_point);

enum class NormalForm { nfc, nfd, nfkc, nfkd };
/// A code point of a normal form. `change` tells which code points of the input it replaces: 0 the next one, -n the
/// next one and the n after it, 1 none (it is inserted).
struct NormalCodePoint {
  char32_t value;
  int change;
};
std::vector<NormalCodePoint> normal_form(std::string_view text, NormalForm form);
/// A fast check. False: the text is already in this form.
bool may_change_in_form(std::string_view text, NormalForm form);

/// Whether there is a grapheme break between two code points. `state` is 0 at the beginning of the text.
bool is_grapheme_break(char32_t left, char32_t right, int& state);

}  // namespace attend
