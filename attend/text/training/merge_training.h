// The training that BPE and WordPiece share: the pair of neighbouring tokens that is most frequent in the words becomes
// a token, again and again (Sennrich et al. 2016, algorithm 1). Counts are kept up to date instead of counted anew, and
// each pair knows the words that have it.
#pragma once
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "attend/core/progress.h"
#include "attend/text/bpe.h"
#include "attend/text/training/word_counts.h"

namespace attend {

struct MergeOptions {
  std::int64_t vocab_size = 30000;    ///< tokens in all: special tokens, the alphabet, then merges while there is room
  std::int64_t min_frequency = 0;     ///< a pair that is seen less often is not merged
  std::int64_t limit_alphabet = 0;    ///< keep so many characters, the most frequent; 0: all. The others vanish
  std::u32string initial_alphabet{};  ///< characters that are kept whether they are seen or not
  std::string continuing_subword_prefix{};    ///< begins every token that does not begin a word
  std::string end_of_word_suffix{};           ///< ends every token that ends a word
  std::vector<std::string> special_tokens{};  ///< get the first ids
};

struct TrainedMerges {
  std::vector<std::string> tokens;  ///< by id
  std::vector<BpeMerge> merges;     ///< the most frequent first
};

/// Among equally frequent pairs the one with the smaller ids is merged, the left id first; ids go to special tokens,
/// the alphabet by code point, its forms with prefix and suffix likewise, then merges. So the result depends on the
/// counts alone, and is that of Hugging Face's trainer, token by token (where prefixes leave that one to chance, it is
/// one of its results). Words are valid UTF-8. Throws InputError where there are none, or vocab_size is too small
/// for the alphabet.
TrainedMerges train_merges(std::span<const WordCount> words, const MergeOptions& options,
                           const Progress& progress = {});

}  // namespace attend
