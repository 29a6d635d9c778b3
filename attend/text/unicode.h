// UTF-8, and what Unicode knows about code points: categories, normal forms, case. Text is UTF-8 in std::string
// everywhere in Attend; positions in it are bytes.
#pragma once
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

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

/// What is true of a code point. The bits hold what Hugging Face tokenizers believe, part by part, since each of its
/// parts follows another version of Unicode.
namespace property {
enum Property : std::uint16_t {
  kLetter = 1 << 0,          ///< \p{L}
  kNumber = 1 << 1,          ///< \p{N}
  kWhiteSpace = 1 << 2,      ///< \s
  kControl = 1 << 3,         ///< what BERT's clean-up removes
  kPunctuation = 1 << 4,     ///< BERT's: all ASCII symbols are
  kNonspacingMark = 1 << 5,  ///< BERT's accents
  kMark = 1 << 6,            ///< all combining marks
  kDigit = 1 << 7,           ///< of the pre-tokeniser Digits
  kWord = 1 << 8,            ///< \w
  kChinese = 1 << 9,         ///< CJK ideographs, by BERT's ranges
  kCanonical = 1 << 10,      ///< has a canonical decomposition
  kCompatible = 1 << 11,     ///< has a canonical or compatibility decomposition
};
}  // namespace property
/// The bits of a code point.
std::uint16_t properties(char32_t code_point);
inline bool is_space(char32_t code_point) { return properties(code_point) & property::kWhiteSpace; }
/// Two letters of Unicode's general category: "Lu".
const char* category(char32_t code_point);

/// Lower case, one code point at a time: only İ becomes two, and no rule looks at neighbours.
struct LowerCase {
  char32_t first, second;  ///< second: 0 where there is none
};
LowerCase lower_case(char32_t code_point);

enum class NormalForm { nfc, nfd, nfkc, nfkd };
/// A code point of a normal form. change says what it does to the text: 0 stands for the next code point of the input,
/// -n for the next and the n after it, 1 for none.
struct NormalCodePoint {
  char32_t value;
  int change;
};
std::vector<NormalCodePoint> normal_form(std::string_view text, NormalForm form);
/// false: the text is certainly in that form already. Fast.
bool may_change_in_form(std::string_view text, NormalForm form);

/// Whether a user sees two neighbours as parts of one character. state is 0 at the beginning of the text.
bool is_grapheme_break(char32_t left, char32_t right, int& state);

}  // namespace attend
