// Which words of a translation come from which words of its source, read off the attention.
#pragma once
#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "attend/tasks/translation/translator.h"

namespace attend {

/// Pairs (source word, target word), words being what stands between white space, counted from 0: for each target word
/// the source word that its tokens look at most; marks at a word's ends do not count. Needs a translation with
/// attention.
std::vector<std::pair<std::size_t, std::size_t>> align_words(const std::string& source, const Translation& translation);

}  // namespace attend
