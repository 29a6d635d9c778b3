#include "attend/text/unicode.h"

#include <utf8proc.h>

#include <algorithm>
#include <array>

#include "attend/text/unicode_ranges.h"

namespace attend {
namespace {

/// A two-stage table for properties(): blocks of 128 code points, most of which are equal.
class PropertyTable {
 public:
  PropertyTable() {
    const std::span<const UnicodeRange> ranges = unicode_ranges();
    std::array<std::uint16_t, 0x1000> uniform;  // blocks with a single value, by value
    uniform.fill(kNone);
    std::size_t range = 0;
    for (std::uint32_t block = 0; block < kBlocks; ++block) {
      const std::uint32_t first = block * kSize, last = first + kSize - 1;
      while (range + 1 < ranges.size() && ranges[range + 1].first <= first) ++range;
      const bool is_uniform = range + 1 == ranges.size() || ranges[range + 1].first > last;
      std::uint16_t& shared = uniform[ranges[range].properties];
      if (is_uniform && shared != kNone) {
        index_[block] = shared;
        continue;
      }
      index_[block] = static_cast<std::uint16_t>(values_.size() / kSize);
      if (is_uniform) shared = index_[block];
      for (std::uint32_t c = first; c <= last; ++c) {
        if (range + 1 < ranges.size() && ranges[range + 1].first == c) ++range;
        values_.push_back(ranges[range].properties);
      }
    }
  }
  std::uint16_t operator[](char32_t c) const {
    return c < 0x110000 ? values_[static_cast<std::size_t>(index_[c / kSize]) * kSize + c % kSize] : 0;
  }

 private:
  static constexpr std::uint32_t kSize = 128, kBlocks = 0x110000 / kSize;
  static constexpr std::uint16_t kNone = 0xFFFF;
  std::array<std::uint16_t, kBlocks> index_;
  std::vector<std::uint16_t> values_;
};

utf8proc_int32_t signed_code(char32_t c) { return static_cast<utf8proc_int32_t>(c); }

int combining_class(char32_t c) {
  return properties(c) & property::kMark ? utf8proc_get_property(signed_code(c))->combining_class : 0;
}

/// The composition of two code points; 0 if there is none.
char32_t compose(char32_t left, char32_t right) {
  std::array<utf8proc_int32_t, 2> pair = {signed_code(left), signed_code(right)};
  const auto options = static_cast<utf8proc_option_t>(UTF8PROC_COMPOSE | UTF8PROC_STABLE);
  if (utf8proc_normalize_utf32(pair.data(), 2, options) != 1) return 0;
  const auto whole = static_cast<char32_t>(pair[0]);
  return properties(whole) & property::kCanonical ? whole : 0;
}

std::vector<NormalCodePoint> decompose(std::string_view text, bool compatible) {
  const std::uint16_t decomposes = compatible ? property::kCompatible : property::kCanonical;
  const auto options = static_cast<utf8proc_option_t>(UTF8PROC_DECOMPOSE | (compatible ? UTF8PROC_COMPAT : 0));
  std::vector<NormalCodePoint> result;
  result.reserve(text.size());
  for (std::size_t at = 0; at < text.size();) {
    const CodePoint c = decode_utf8(text, at);
    at += static_cast<std::size_t>(c.size);
    if (!(properties(c.value) & decomposes)) {
      result.push_back({c.value, 0});
      continue;
    }
    std::array<utf8proc_int32_t, 32> parts;
    int boundary = 0;
    const utf8proc_ssize_t count =
        utf8proc_decompose_char(signed_code(c.value), parts.data(), parts.size(), options, &boundary);
    for (utf8proc_ssize_t i = 0; i < count; ++i) result.push_back({static_cast<char32_t>(parts[i]), i > 0});
  }
  // Canonical ordering: marks are sorted by combining class; the sort is stable.
  for (std::size_t begin = 0; begin < result.size();) {
    std::size_t end = begin;
    while (end < result.size() && combining_class(result[end].value) != 0) ++end;
    const auto by_class = [](const NormalCodePoint& a, const NormalCodePoint& b) {
      return combining_class(a.value) < combining_class(b.value);
    };
    if (end - begin > 1)
      std::stable_sort(result.begin() + static_cast<std::ptrdiff_t>(begin),
                       result.begin() + static_cast<std::ptrdiff_t>(end), by_class);
    begin = end + 1;
  }
  return result;
}

/// Composes in place: a mark joins the last starter unless a mark of the same or a higher class is between them.
void compose(std::vector<NormalCodePoint>& text) {
  std::size_t kept = 0, starter = 0;
  bool has_starter = false;
  int last_class = 0;  // class of the last mark after the starter; 0: none
  for (const NormalCodePoint& next : text) {
    const int own_class = combining_class(next.value);
    if (has_starter && (kept == starter + 1 || (last_class != 0 && last_class < own_class))) {
      if (const char32_t whole = compose(text[starter].value, next.value)) {
        text[starter] = {whole, text[starter].change + next.change - 1};
        continue;
      }
    }
    if (own_class == 0) starter = kept, has_starter = true;
    last_class = own_class;
    text[kept++] = next;
  }
  text.resize(kept);
}

}  // namespace

std::uint16_t properties(char32_t code_point) {
  static const PropertyTable table;
  return table[code_point];
}

const char* category(char32_t code_point) { return utf8proc_category_string(signed_code(code_point)); }

LowerCase lower_case(char32_t c) {
  if (c < 0x80) return {c >= 'A' && c <= 'Z' ? c + 32 : c, 0};
  if (c == 0x130) return {U'i', 0x307};
  // Letters of Unicode 16 and 17, which older versions of utf8proc do not have.
  struct Newer {
    char32_t first, last, lower;
  };
  static constexpr Newer kNewer[] = {
      {0x1C89, 0x1C89, 0x1C8A},    {0xA7CB, 0xA7CB, 0x264},     {0xA7CC, 0xA7CC, 0xA7CD}, {0xA7CE, 0xA7CE, 0xA7CF},
      {0xA7D2, 0xA7D2, 0xA7D3},    {0xA7D4, 0xA7D4, 0xA7D5},    {0xA7DA, 0xA7DA, 0xA7DB}, {0xA7DC, 0xA7DC, 0x19B},
      {0x10D50, 0x10D65, 0x10D70}, {0x16EA0, 0x16EB8, 0x16EBB},
  };
  for (const Newer& range : kNewer)
    if (c >= range.first && c <= range.last) return {range.lower + (c - range.first), 0};
  return {static_cast<char32_t>(utf8proc_tolower(signed_code(c))), 0};
}

std::vector<NormalCodePoint> normal_form(std::string_view text, NormalForm form) {
  std::vector<NormalCodePoint> result = decompose(text, form == NormalForm::nfkc || form == NormalForm::nfkd);
  if (form == NormalForm::nfc || form == NormalForm::nfkc) compose(result);
  return result;
}

bool may_change_in_form(std::string_view text, NormalForm form) {
  const bool compatible = form == NormalForm::nfkc || form == NormalForm::nfkd;
  // Text below U+0300 is in NFC, since combining marks begin there.
  const std::uint16_t suspects = property::kMark | (compatible ? property::kCompatible : property::kCanonical);
  for (std::size_t at = 0; at < text.size();) {
    const CodePoint c = decode_utf8(text, at);
    const bool jamo = c.value >= 0x1100 && c.value <= 0x11FF;  // parts of Korean syllables
    if ((form != NormalForm::nfc || c.value >= 0x300) && (jamo || properties(c.value) & suspects)) return true;
    at += static_cast<std::size_t>(c.size);
  }
  return false;
}

bool is_grapheme_break(char32_t left, char32_t right, int& state) {
  return utf8proc_grapheme_break_stateful(signed_code(left), signed_code(right), &state);
}

}  // namespace attend
