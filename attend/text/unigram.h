// The unigram model: of all ways to cut a word into pieces, the one with the largest sum of log-probabilities
// (Viterbi over a trie of the vocabulary). A character in no piece costs 10 below the least likely piece.
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
  std::optional<std::int32_t>
      unk_id{};                ///< neighbouring unknown characters are one token; none: such a text is an error
  bool byte_fallback = false;  ///< an unknown run is its bytes: <0x61>
};

class Unigram {
 public:
  Unigram() = default;
  /// scores[id] is the piece's log-probability. Throws InputError where unk_id or the number of scores does not fit.
  Unigram(Vocabulary vocabulary, std::vector<double> scores, UnigramOptions options = {});

  const Vocabulary& vocabulary() const { return vocabulary_; }
  const std::vector<double>& scores() const { return scores_; }
  const UnigramOptions& options() const { return options_; }
  void encode(std::string_view word, std::vector<Piece>& pieces) const;

 private:
  Vocabulary vocabulary_;
  std::vector<double> scores_;
  UnigramOptions options_;
  std::vector<std::int32_t> sorted_;                       // ids by the bytes of their tokens: a trie without nodes
  std::array<std::uint32_t, 257> first_{};                 // where in sorted_ the tokens with that first byte begin
  std::optional<std::array<std::int32_t, 256>> fallback_;  // of "<0x61>"; -1: not in the vocabulary
  double unknown_score_ = 0;
};

}  // namespace attend
