// Sampling: the next token is chosen at random, by its probability.
#pragma once
#include <cstdint>
#include <vector>

#include "attend/core/random.h"
#include "attend/decode/logits.h"

namespace attend {

struct SamplingOptions {
  double temperature = 1.0;  ///< the logits are divided by it; below 1 favours likely tokens
  std::int64_t top_k = 50;   ///< sample from the k most likely tokens; 0 disables the limit
  double top_p = 1.0;        ///< sample from the most likely tokens whose probabilities add up to this
  double min_p = 0.0;        ///< sample from tokens with at least this share of the highest probability
};

/// The probabilities of the tokens in sampling, in the order of `tokens` (by score, best first). Tokens without one are
/// removed from the end. Temperature, top-k, top-p and min-p apply in this order, each to what the one before left.
std::vector<double> sampling_probabilities(std::vector<NextToken>& tokens, const SamplingOptions& options);

/// A new random seed, different each time. Below 2^53, so that JSON numbers hold it exactly.
std::uint64_t random_seed();

/// The index that a random number u in [0, 1) chooses.
std::size_t sample_index(const std::vector<double>& probabilities, double u);

}  // namespace attend
