// Finding what a model wants to say: greedy search, beam search and sampling over any model that can take one step, for
// many sentences at once. What comes out is what `transformers` gives for the same logits and options. Sentences that
// are done leave the batch.
#pragma once
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "attend/core/tensor.h"
#include "attend/decode/logits.h"
#include "attend/decode/sampling.h"

namespace attend {

/// A model in the middle of saying something, for some rows: one for each hypothesis.
class Stepper {
 public:
  virtual ~Stepper() = default;
  /// One step for all rows after their last words. The search writes into what it gets.   int32 [N] -> logits [N, V]
  virtual Tensor step(const Tensor& words) = 0;
  /// From now on row i is what row rows[i] was. Rows may repeat, and may be left out.
  virtual void select(std::span<const std::int64_t> rows) = 0;
};

/// When a beam stops looking for something better than the `beam` hypotheses that it has finished.
enum class EarlyStopping : std::uint8_t {
  no,     ///< when the best live one, as long as it is now, would not do
  yes,    ///< at once
  never,  ///< when no live one could do any more, however long it becomes
};

struct SearchOptions {
  std::int64_t beam = 1;          ///< hypotheses kept for each sentence; 1 is greedy
  std::int64_t nbest = 1;         ///< hypotheses returned for each: at most `beam`, any number of samples
  bool sample = false;            ///< draw each word by chance; takes a beam of 1
  SamplingOptions sampling = {};  ///< how
  std::uint64_t seed = 0;         ///< of the chance
  double length_penalty = 1.0;    ///< a score is log-probability / length ^ this; 0 favours short ones
  EarlyStopping early_stopping = EarlyStopping::no;
  std::int64_t max_new_tokens = 0;       ///< words at most, the end included and the prefix not; 0: max_length counts
  std::int64_t max_length = 200;         ///< the same with start and prefix counted
  std::int32_t start = 0;                ///< the word before the first
  std::vector<std::int32_t> ends = {0};  ///< words that end a sentence
  LogitsRules rules = {};                ///< what may be said
};

/// What is each sentence's own.
struct SearchInput {
  std::vector<std::int32_t> prompt = {};  ///< what the stepper has read already, in place of the start; its first step
                                          ///< says what follows
  std::vector<std::int32_t> prefix = {};  ///< what it must begin with
  std::int64_t max_new_tokens = 0;        ///< 0: as the options say
  std::uint64_t stream = 0;               ///< of random numbers; sentences of one stream draw the same
};

struct Hypothesis {
  std::vector<std::int32_t> ids;  ///< without start or prompt, with the prefix, and with the end when it was reached
  double log_probability = 0;     ///< sum over the words behind the prefix; along a beam, as the rules left it
  double score = 0;               ///< log_probability / length ^ length_penalty
  bool finished = false;          ///< false: cut at its length, also where the rules then forced an end
  bool stopped = false;           ///< because SearchWatch::stops said so
};

/// Somebody who looks on while words are found.
struct SearchWatch {
  /// Told of every word that greedy search or sampling says, as soon as it does: of which sentence, and which of its
  /// samples; `best` are the best words that could have been said, `alternatives` of them at least. May throw to stop
  /// it all.
  std::function<void(std::size_t sentence, std::size_t sample, const NextWord& word, std::span<const NextWord> best)>
      said = {};
  std::int64_t alternatives = 0;
  /// Whether a hypothesis ends with these words, though the last is no end of a sentence.
  std::function<bool(std::span<const std::int32_t> words)> stops = {};  ///< behind the prompt
};

/// The nbest hypotheses of each sentence, best first (samples: as they were drawn). The stepper has a row for each
/// sentence. Throws InputError when the options do not go together, or name words that the model does not have. Equal
/// scores go to the smaller id, and random numbers belong to their sentence, so that a result never depends on threads
/// or on the batch.
std::vector<std::vector<Hypothesis>> search(Stepper& stepper, std::span<const SearchInput> sentences,
                                            const SearchOptions& options, const SearchWatch& watch = {});
/// Sentences that have nothing of their own.
std::vector<std::vector<Hypothesis>> search(Stepper& stepper, std::int64_t sentences, const SearchOptions& options);

}  // namespace attend
