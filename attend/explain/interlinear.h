// A translation word by word in the terminal: below each word of the source, the words that it became.
#pragma once
#include <string>
#include <utility>
#include <vector>

#include "attend/explain/terminal.h"

namespace attend {

/// Words are separated by white space. `links` are pairs (source word, target word), counted from 0, as align_words
/// returns them.
struct AlignedTexts {
  std::string source, target;
  std::vector<std::pair<std::size_t, std::size_t>> links;
};

///   Mi  piacciono  le  mele     rosse.
///   I₁  like₂      ·   apples₄  red₃
/// The small numbers are positions in the translation: where they do not rise, the word order has changed. With
/// colours, a word and its translation have the same colour. Lines are wrapped. Throws if a link names a word that does
/// not exist.
std::string interlinear(const AlignedTexts& texts, const TerminalOptions& options = {});

}  // namespace attend
