// A translation word by word in the terminal, as grammars print it: below each word of the source what it became.
#pragma once
#include <string>
#include <utility>
#include <vector>

#include "attend/explain/terminal.h"

namespace attend {

/// Words are what stands between white space. `links` are pairs (source word, target word), counted from 0, as
/// align_words gives them.
struct AlignedTexts {
  std::string source, target;
  std::vector<std::pair<std::size_t, std::size_t>> links;
};

///   Mi  piacciono  le  mele     rosse.
///   I₁  like₂      ·   apples₄  red₃
/// The small numbers are places in the translation: where they do not rise, the order of words has changed. With
/// colours, a word and what it became have the same. Breaks where the line is full. Throws when a link names a word
/// that is not there.
std::string interlinear(const AlignedTexts& texts, const TerminalOptions& options = {});

}  // namespace attend
