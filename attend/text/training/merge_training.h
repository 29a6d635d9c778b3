// The training loop of BPE and WordPiece: it repeatedly merges the most frequent pair of adjacent tokens into a new
// token (Sennrich et al. 2016, algorithm 1). A merge updates only the counts of the words that contain the pair.
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
  std::int64_t vocab_size = 30000;    ///< size of the vocabulary: special tokens, alphabet, then merges
  std::int64_t min_frequency = 0;     ///< rarer pairs are not merged
  std::int64_t limit_alphabet = 0;    ///< keep only the N most frequent characters and drop the others; 0: keep all
  std::u32string initial_alphabet{};  ///< characters that are always kept
  std::string continuing_subword_prefix{};    ///< prefix of every token that does not begin a word
  std::string end_of_word_suffix{};           ///< suffix of every token that ends a word
  std::vector<std::string> special_tokens{};  ///< they get the first ids
};

struct TrainedMerges {
  std::vector<std::string> tokens;  ///< by id
  std::vector<BpeMerge> merges;     ///< in the order of training
};

/// Ids are assigned to the special tokens, to the alphabet in the order of code points, to its forms with prefix and
/// suffix in the same order, and then to the merges. Of equally frequent pairs, the pair with the smaller left id, then
/// the smaller right id is merged. So the result depends only on the counts. It equals the result of Hugging Face's
/// trainer (with a prefix, that one is random in the order of ids, and this is one of its results). Words must be valid
/// UTF-8. Throws InputError if there are no words, or if vocab_size is too small for the alphabet.
TrainedMerges train_merges(std::span<const WordCount> words, const MergeOptions& options,
                           const Progress& progress = {});

}  // namespace attend
