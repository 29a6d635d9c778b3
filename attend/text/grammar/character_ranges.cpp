#include "attend/text/grammar/character_ranges.h"

#include <algorithm>
#include <cstdio>

#include "attend/text/unicode.h"

namespace attend {
namespace {

constexpr char32_t kFirstSurrogate = 0xD800, kLastSurrogate = 0xDFFF, kLast = 0x10FFFF;

CharacterRanges complement(const CharacterRanges& sorted) {
  CharacterRanges others;
  char32_t next = 0;
  for (const auto& [first, last] : sorted) {
    if (first > next) others.emplace_back(next, first - 1);
    next = last + 1;
  }
  if (next <= kLast) others.emplace_back(next, kLast);
  return others;
}

CharacterRanges sorted(CharacterRanges ranges) {
  std::ranges::sort(ranges);
  CharacterRanges joined;
  for (const auto& [first, last] : ranges)
    if (!joined.empty() && first <= joined.back().second + 1)
      joined.back().second = std::max(joined.back().second, last);
    else
      joined.emplace_back(first, last);
  return joined;
}

}  // namespace

CharacterRanges all_characters() { return complement({{kFirstSurrogate, kLastSurrogate}}); }

CharacterRanges normalise(CharacterRanges ranges) {
  ranges = complement(sorted(std::move(ranges)));
  ranges.emplace_back(kFirstSurrogate, kLastSurrogate);
  return complement(sorted(std::move(ranges)));
}

CharacterRanges negate(CharacterRanges ranges) {
  ranges.emplace_back(kFirstSurrogate, kLastSurrogate);
  return complement(sorted(std::move(ranges)));
}

CharacterRanges intersect(const CharacterRanges& a, const CharacterRanges& b) {
  CharacterRanges outside = negate(a);
  const CharacterRanges more = negate(b);
  outside.insert(outside.end(), more.begin(), more.end());
  return negate(std::move(outside));
}

void append_gbnf(char32_t character, std::string& gbnf) {
  const bool is_special = character == U'"' || character == U'\\' || character == U'[' || character == U']';
  if (character == U'\n') {
    gbnf += "\\n";
  } else if (is_special) {
    gbnf += '\\', gbnf += static_cast<char>(character);
  } else if (character < 0x20 || character == U'-' || character == U'^' || (character >= 0x7F && character < 0xA0)) {
    char escape[8];
    std::snprintf(escape, sizeof escape, "\\x%02X", static_cast<unsigned>(character));
    gbnf += escape;
  } else {
    append_utf8(character, gbnf);
  }
}

std::string gbnf_class(const CharacterRanges& ranges) {
  std::string gbnf = "[";
  for (const auto& [first, last] : ranges) {
    append_gbnf(first, gbnf);
    if (last == first) continue;
    gbnf += '-';
    append_gbnf(last, gbnf);
  }
  return gbnf + "]";
}

}  // namespace attend
