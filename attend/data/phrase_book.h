// The embedded phrase book: generates Italian sentences with their English translations from a grammar of both
// languages. It needs no download and can give millions of different pairs. They show agreement of gender and number,
// adjectives after the noun, dropped pronouns, negation, questions and relative clauses.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

namespace attend {

struct PhrasePair {
  std::string source, target;  ///< Italian, English
};

struct PhraseBookOptions {
  std::int64_t pairs = 40'000;  ///< for training
  std::int64_t held_out = 0;    ///< for evaluation
  std::uint64_t seed = 1;
};

struct PhraseBook {
  std::vector<PhrasePair> training, held_out;
};

/// Samples pairs. No source occurs twice, even if case and punctuation are ignored, and each has one translation.
/// Whether a sentence may be held out depends only on the sentence: a pair that one call holds out is in the training
/// pairs of no other call, whatever their options. The same options give the same pairs on every machine. Throws
/// InputError if the grammar has fewer pairs than requested.
PhraseBook phrase_book(const PhraseBookOptions& options = {});

}  // namespace attend
