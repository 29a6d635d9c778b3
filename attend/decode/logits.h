// Which word may come next, and what it counts: the rules that `transformers` calls logits processors, and the best
// words under them. Each rule concerns a few words of the vocabulary only, so that a step reads its logits twice and
// writes next to nothing, however many rules there are.
#pragma once
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "attend/core/tensor.h"

namespace attend {

struct LogitBias {
  std::int32_t id = 0;
  double bias = 0;
};

struct LogitsRules {
  double repetition_penalty = 1.0;   ///< of words that were said: a negative score times this, a positive one by this
  double presence_penalty = 0.0;     ///< taken from the scores of words that were said behind the prompt
  double frequency_penalty = 0.0;    ///< the same for each time that they were said
  std::int64_t no_repeat_ngram = 0;  ///< so many words in a row are never said twice; 0: they may be
  std::vector<std::vector<std::int32_t>> bad_words = {};  ///< never said; a sequence is stopped before its last word
  std::int64_t min_new_tokens = 0;                        ///< no end before so many words, prompt not counted
  std::int64_t min_length = 0;                            ///< the same with the prompt counted
  std::optional<std::int32_t> forced_first = {};          ///< what must follow the start, when that is the whole prompt
  std::vector<std::int32_t> forced_last = {};             ///< one of these must be the last word that length allows
  std::vector<std::int32_t> suppressed = {};              ///< never said, not even when forced
  std::vector<LogitBias> biases = {};                     ///< added to the scores of single words, before all else
  std::vector<std::int32_t> suppressed_first = {};        ///< not said as first word after the prompt
  bool renormalise = false;  ///< probabilities of what the rules leave sum to 1 again, where they are added up
};

/// Where a hypothesis is.
struct LogitsContext {
  std::span<const std::int32_t> words;  ///< all so far, the prompt (start and forced prefix) included
  std::int64_t prompt = 1;              ///< how many of them the prompt is
  std::int64_t max_length = 0;          ///< words at most, the prompt included
};

struct NextWord {
  std::int32_t id = 0;
  double score = 0;            ///< by the rules
  double log_probability = 0;  ///< the model's own
};

/// What the rules apply to. `transformers` gives them logits when it takes the best word or draws one, and
/// log-probabilities when it adds them up along a beam.
enum class ScoreKind : std::uint8_t { logits, log_probabilities };

/// The best `count` words after each hypothesis, best first and equal ones by id; fewer where the rules leave fewer.
/// logits [N, V], which it changes; contexts, N; `ends` are the words that end a sentence. All words that contexts and
/// rules name must be in 0 … V - 1. Throws when the logits are no numbers.
std::vector<std::vector<NextWord>> best_words(const Tensor& logits, std::span<const LogitsContext> contexts,
                                              const LogitsRules& rules, std::span<const std::int32_t> ends,
                                              std::int64_t count, ScoreKind kind);

}  // namespace attend
