// The rules that choose among the next tokens, which `transformers` calls logits processors, and the best tokens under
// these rules. Each rule but a grammar concerns few tokens of the vocabulary, so that a step reads its logits twice and
// writes almost nothing, however many rules there are.
#pragma once
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "attend/core/tensor.h"

namespace attend {

class TokenGrammar;
struct GrammarPosition;

struct LogitBias {
  std::int32_t id = 0;
  double bias = 0;
};

struct LogitsRules {
  double repetition_penalty = 1.0;   ///< of tokens in the text: negative scores are multiplied, positive ones divided
  double presence_penalty = 0.0;     ///< subtracted from the scores of tokens that were generated before
  double frequency_penalty = 0.0;    ///< the same for each time that they were generated
  std::int64_t no_repeat_ngram = 0;  ///< never generate so many tokens in a row twice; 0 allows it
  std::vector<std::vector<std::int32_t>> bad_words = {};  ///< sequences of tokens that are never generated
  std::int64_t min_new_tokens = 0;                        ///< no end token before so many tokens, without the prompt
  std::int64_t min_length = 0;                            ///< the same with the prompt
  std::optional<std::int32_t> forced_first = {};          ///< follows the start token, when that is the whole prompt
  std::vector<std::int32_t> forced_last = {};             ///< one of these is the last token at the maximum length
  std::vector<std::int32_t> suppressed = {};              ///< never generated, not even when forced
  std::vector<LogitBias> biases = {};                     ///< added to the scores of tokens, before all other rules
  std::vector<std::int32_t> suppressed_first = {};        ///< not generated as the first token after the prompt
  /// Only tokens with which the text conforms at its end. It comes before the rules above: where they would ban all
  /// tokens that it allows, they ban none.
  std::shared_ptr<const TokenGrammar> grammar = {};
  bool renormalise = false;  ///< of a beam: the probabilities of the tokens that the rules allow add up to 1 again
};

/// The state of a hypothesis.
struct LogitsContext {
  std::span<const std::int32_t> tokens;  ///< all tokens so far, the prompt (start token and prefix) included
  std::int64_t prompt = 1;               ///< how many of them are the prompt
  std::int64_t max_length = 0;           ///< maximum number of tokens, the prompt included
  GrammarPosition* position = nullptr;   ///< of the tokens after the prompt; needed with a grammar
};

struct NextToken {
  std::int32_t id = 0;
  double score = 0;            ///< after the rules
  double log_probability = 0;  ///< of the model
};

/// What the rules are applied to. As in `transformers`, logits for greedy search and sampling, log-probabilities for
/// beam search.
enum class ScoreKind : std::uint8_t { logits, log_probabilities };

/// The best `count` tokens after each hypothesis, best first and equal ones by id; fewer where the rules allow fewer.
/// logits [N, V], which it changes; contexts, N; `ends` are the tokens that end a text. All ids in contexts and rules
/// must be from 0 to V - 1. Throws ModelError if a row has a logit that is NaN or +infinity, or only -infinity.
std::vector<std::vector<NextToken>> best_tokens(const Tensor& logits, std::span<const LogitsContext> contexts,
                                                const LogitsRules& rules, std::span<const std::int32_t> ends,
                                                std::int64_t count, ScoreKind kind);

}  // namespace attend
