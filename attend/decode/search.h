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

/// When beam search stops, once it has `beam` finished hypotheses.
enum class EarlyStopping : std::uint8_t {
  no,     ///< when no unfinished one has a better score at its present length
  yes,    ///< at once
  never,  ///< when no unfinished one can get a better score at any length
};

struct SearchOptions {
  std::int64_t beam = 1;          ///< hypotheses that beam search keeps; 1 is greedy search
  std::int64_t nbest = 1;         ///< hypotheses returned: at most `beam`, or any number of samples
  bool sample = false;            ///< choose each token at random; needs a beam of 1
  SamplingOptions sampling = {};  ///< with `sample`
  std::uint64_t seed = 0;         ///< of the random numbers
  double length_penalty = 1.0;    ///< a score is log-probability / length ^ this; 0 prefers short hypotheses
  EarlyStopping early_stopping = EarlyStopping::no;
  std::int64_t max_new_tokens = 0;       ///< maximum length with the end token, without the prefix; 0: see max_length
  std::int64_t max_length = 200;         ///< the same with start token and prefix
  std::int32_t start = 0;                ///< the decoder's first token
  std::vector<std::int32_t> ends = {0};  ///< tokens that end a text
  LogitsRules rules = {};                ///< which tokens may be generated
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
  std::vector<std::int32_t> ids;  ///< without start or prompt, with the prefix, and with the end token if there is one
  double log_probability = 0;     ///< sum over the tokens after the prefix; of a beam, as the rules changed it
  double score = 0;               ///< log_probability / length ^ length_penalty
  bool finished = false;          ///< false: cut at the maximum length, also where the rules forced an end token
  bool stopped = false;           ///< ended by SearchCallbacks::should_stop
};

/// Callbacks of a search.
struct SearchCallbacks {
  /// Called for each token as soon as greedy search or sampling has chosen it: in which of the samples, and the most
  /// likely tokens, at least `alternatives` of them. May throw.
  std::function<void(std::size_t sample, const NextToken& token, std::span<const NextToken> best)> on_token = {};
  std::int64_t alternatives = 0;
  /// Whether a hypothesis with these tokens (without prompt and prefix) ends here, although its last token is no end
  /// token.
  std::function<bool(std::span<const std::int32_t> ids)> should_stop = {};
};

}  // namespace attend
