// Word alignments of a translation, from its attention weights.
#pragma once
#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "attend/tasks/translation/translator.h"

namespace attend {

/// Pairs (source word, target word); words are separated by white space and counted from 0. For each target word, the
/// source word with the highest attention weight of its tokens. Punctuation at a word's ends does not count. Needs a
/// translation with attention.
std::vector<std::pair<std::size_t, std::size_t>> align_words(const std::string& source, const Translation& translation);

}  // namespace attend
