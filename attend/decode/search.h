// How to search for a text: options, inputs and results of greedy search, beam search and sampling. The results are
// those of `transformers` for the same logits and options. decode/engine.h runs the search.
#pragma once
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "attend/decode/logits.h"
#include "attend/decode/sampling.h"

namespace attend {

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

/// What one sequence starts from.
struct SearchInput {
  std::vector<std::int32_t> source = {};  ///< of an encoder–decoder: token ids
  std::vector<std::int32_t> prompt = {};  ///< tokens that the decoder reads first; empty: SearchOptions::start
  std::vector<std::int32_t> prefix = {};  ///< tokens that the output begins with
  std::int64_t max_new_tokens = 0;        ///< 0: as in SearchOptions
  std::uint64_t stream = 0;               ///< of random numbers; sequences of one stream sample the same
};

struct Hypothesis {
  std::vector<std::int32_t> ids;  ///< without start or prompt, with the prefix, and with the end when it was reached
  double log_probability = 0;     ///< sum over the words behind the prefix; along a beam, as the rules left it
  double score = 0;               ///< log_probability / length ^ length_penalty
  bool finished = false;          ///< false: cut at its length, also where the rules then forced an end
  bool stopped = false;           ///< ended by SearchWatch::stops
};

/// Callbacks of a search.
struct SearchWatch {
  /// Called for each token as soon as greedy search or sampling has chosen it: in which of the samples, and the most
  /// likely tokens, at least `alternatives` of them. May throw.
  std::function<void(std::size_t sample, const NextWord& word, std::span<const NextWord> best)> said = {};
  std::int64_t alternatives = 0;
  /// Whether a hypothesis ends with these tokens, prompt and prefix not counted, although the last does not end a text.
  std::function<bool(std::span<const std::int32_t> ids)> stops = {};
};

}  // namespace attend
