// Sets of characters as ranges, for the classes of grammars and patterns.
#pragma once
#include <string>
#include <utility>
#include <vector>

namespace attend {

/// Ranges of code points, both ends included.
using CharacterRanges = std::vector<std::pair<char32_t, char32_t>>;

/// Every code point but the surrogates.
CharacterRanges all_characters();
/// The same characters: sorted, joined, without surrogates.
CharacterRanges normalise(CharacterRanges ranges);
/// All characters but these.
CharacterRanges negate(CharacterRanges ranges);
/// The characters that are in both.
CharacterRanges intersect(const CharacterRanges& a, const CharacterRanges& b);

/// Appends a character as literals and classes of GBNF write it.
void append_gbnf(char32_t character, std::string& gbnf);
/// A class of GBNF: "[a-z0-9]".
std::string gbnf_class(const CharacterRanges& ranges);

}  // namespace attend
