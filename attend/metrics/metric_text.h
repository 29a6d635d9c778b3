// Helpers of the metrics of text: references, and splitting into words as in the Python code of sacreBLEU.
#pragma once
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace attend {

/// Reference translations: references[r][i] is the r-th reference of sentence i.
using References = std::vector<std::vector<std::string>>;

/// Throws InputError [metric] unless there is at least one set of references, and each has as many lines as there are
/// hypotheses.
void check_references(std::string_view metric, std::span<const std::string> hypotheses, const References& references);
/// All references of sentence i.
std::vector<std::string_view> references_of(const References& references, std::size_t i);

/// Whether Python's str.split() splits at this character: Unicode whitespace, and the separators U+001C to U+001F.
bool is_white_space(char32_t c);
/// Splits a text at whitespace.
std::vector<std::string_view> split_words(std::string_view text);

}  // namespace attend
