// Pairs of texts from files, for the training of encoder–decoders: translators and summarizers.
#pragma once
#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "attend/data/reader.h"
#include "attend/text/tokenizer.h"
#include "attend/text/training/word_counts.h"
#include "attend/train/trainer.h"

namespace attend {

/// Files of pairs: one file with a source, a tab and a target on each line, or two files with a text on each line.
struct PairFiles {
  std::filesystem::path pairs = {};
  std::filesystem::path source = {}, target = {};

  bool given() const { return !pairs.empty() || !source.empty(); }
  std::vector<std::filesystem::path> all() const { return {pairs, source, target}; }
};

/// Reads pairs one by one: false at the end. Progress is in bytes. Throws InputError if there are no pairs, or if a
/// line has no tab.
std::function<bool(Record&)> open_pairs(const PairFiles& files, const Progress& progress = {});

/// The first `count` pairs.
struct PairExcerpt {
  std::vector<std::string> sources, targets;
};
PairExcerpt read_excerpt(const PairFiles& files, std::int64_t count);

struct PairSubwords {
  std::int64_t vocab_size = 8000;
  bool each_side = false;  ///< a set for each side (Marian's way), instead of one for both together
  bool lowercase = false;  ///< the tokenizer converts text to lower case
};
/// Learns BPE subwords from the pairs.
Tokenizer learn_subwords(const PairFiles& files, const PairSubwords& options, const TrainingObserver& observer);

}  // namespace attend
