// Aligns the words of a translation with the words of its source by the attention weights.
#pragma once
#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "attend/tasks/translation/translator.h"

namespace attend {

/// Pairs (source word, target word). Words are separated by white space and counted from 0. Each target word is aligned
/// with the source word that its tokens attend to most. Punctuation at the ends of words is ignored. The translation
/// must have its attention.
std::vector<std::pair<std::size_t, std::size_t>> align_words(const std::string& source, const Translation& translation);

}  // namespace attend
