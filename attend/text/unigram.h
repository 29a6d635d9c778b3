// The unigram model (Kudo 2018). It splits a word into the tokens with the largest sum of log-probabilities, by a
// Viterbi search over a trie of the vocabulary. The score of an unknown character is that of the least likely token
// minus 10.
#pragma once
#include <array>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "attend/text/piece.h"
#include "attend/text/vocabulary.h"

namespace attend {

struct UnigramOptions {
  std::optional<std::int32_t> unk_id{};  ///< adjacent unknown characters become one token; none: they are an error
  bool byte_fallback = false;            ///< unknown characters become their bytes: <0x61>
};

class Unigram {
 public:
  Unigram() = default;
  /// scores[id] is the log-probability of a token. Throws InputError if unk_id or the number of scores is wrong.
  Unigram(Vocabulary vocabulary, std::vector<double> scores, UnigramOptions options = {});

  const Vocabulary& vocabulary() const { return vocabulary_; }
  const std::vector<double>& scores() const { return scores_; }
  const UnigramOptions& options() const { return options_; }
  void encode(std::string_view word, std::vector<Piece>& pieces) const;

 private:
  Vocabulary vocabulary_;
  std::vector<double> scores_;
  UnigramOptions options_;
  std::vector<std::int32_t> sorted_;                       // ids, sorted by the bytes of their tokens; used as a trie
  std::array<std::uint32_t, 257> first_{};                 // where the tokens with this first byte begin in sorted_
  std::optional<std::array<std::int32_t, 256>> fallback_;  // ids of "<0x61>"; -1: not in the vocabulary
  double unknown_score_ = 0;
};

}  // namespace attend
