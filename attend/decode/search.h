// Finding what a model wants to say: greedy and beam search over any model that can take one step, for many sentences
// at once. Sentences that are done leave the batch.
#pragma once
#include <cstdint>
#include <span>
#include <vector>

#include "attend/core/tensor.h"

namespace attend {

/// A model in the middle of saying something, for some rows: one for each hypothesis.
class Stepper {
 public:
  virtual ~Stepper() = default;
  /// One step for all rows after their last words.   int32 [N] -> logits [N, V]
  virtual Tensor step(const Tensor& words) = 0;
  /// From now on row i is what row rows[i] was. Rows may repeat, and may be left out.
  virtual void select(std::span<const std::int64_t> rows) = 0;
  /// What the last step looked at, [N, S], when it was asked to remember; undefined otherwise.
  virtual Tensor attention() const { return {}; }
};

struct SearchOptions {
  std::int64_t beam = 1;                 ///< hypotheses kept for each sentence; 1 is greedy
  std::int64_t nbest = 1;                ///< hypotheses returned for each, at most `beam`
  std::int64_t max_new_tokens = 200;     ///< the end of a sentence included
  double length_penalty = 1.0;           ///< a score is log-probability / length ^ this; 0 favours short ones
  std::int32_t start = 0;                ///< the word before the first
  std::int32_t end = 0;                  ///< the word that ends a sentence
  std::vector<std::int32_t> never = {};  ///< words that are not to be said: padding, unknown
  bool remember_attention = false;       ///< fill Hypothesis::attention
};

struct Hypothesis {
  std::vector<std::int32_t> ids;  ///< without start, with `end` when it was reached
  double log_probability = 0;
  double score = 0;                                ///< what the search ordered by
  bool finished = false;                           ///< false: cut at max_new_tokens
  std::vector<std::vector<float>> attention = {};  ///< a row for each id, over the source
};

/// The nbest hypotheses of each of `sentences` sentences, best first. The stepper has a row for each sentence.
/// Throws when beam < 1 or nbest is not 1 … beam. Equal scores go to the smaller id, so that a result never depends on
/// threads or on the batch.
std::vector<std::vector<Hypothesis>> search(Stepper& stepper, std::int64_t sentences, const SearchOptions& options);

}  // namespace attend
