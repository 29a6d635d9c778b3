// What the metrics of text share: who is compared with whom, and words as sacreBLEU's Python cuts them.
#pragma once
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace attend {

/// What hypotheses are held against: references[r][i] is the r-th translation of sentence i.
using References = std::vector<std::vector<std::string>>;

/// Throws InputError, in the name of `metric`, unless there is at least one set of references, and each has as many
/// lines as there are hypotheses.
void check_references(std::string_view metric, std::span<const std::string> hypotheses, const References& references);
/// All references of sentence i.
std::vector<std::string_view> references_of(const References& references, std::size_t i);

/// What Python's str.split() cuts at: Unicode's white space, and the four separators U+001C to U+001F.
bool is_white_space(char32_t c);
/// The text between white space.
std::vector<std::string_view> split_words(std::string_view text);

}  // namespace attend
