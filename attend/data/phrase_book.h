// The embedded phrase book: Italian sentences with their English translations, out of a grammar of both languages. It
// needs no download, and gives as many different pairs as one wants to learn from: articles, gender and number that
// agree, adjectives behind the noun, dropped pronouns, negation, questions, clauses inside clauses.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

namespace attend {

struct PhrasePair {
  std::string source, target;  ///< Italian, English
};

struct PhraseBookOptions {
  std::int64_t pairs = 40'000;  ///< to learn from
  std::int64_t held_out = 0;    ///< to be judged by
  std::uint64_t seed = 1;
};

struct PhraseBook {
  std::vector<PhrasePair> training, held_out;
};

/// Draws from the book. No source comes twice, not even with other capitals or marks, and each has one translation.
/// Which sentences may be held out is decided by the sentence alone: whatever the seeds and numbers of two calls, what
/// one holds out the other does not train on. The same options give the same pairs on every machine. Throws InputError
/// when more are asked for than there are.
PhraseBook phrase_book(const PhraseBookOptions& options = {});

}  // namespace attend
