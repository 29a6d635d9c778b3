// Drawing the next word by chance instead of taking the best.
#pragma once
#include <cstdint>
#include <vector>

#include "attend/core/random.h"
#include "attend/decode/logits.h"

namespace attend {

struct SamplingOptions {
  double temperature = 1.0;  ///< scores are divided by it: below 1 bolder choices, above 1 wilder ones
  std::int64_t top_k = 50;   ///< only so many best words can be drawn; 0: all
  double top_p = 1.0;        ///< only the best words whose probabilities together reach this
  double min_p = 0.0;        ///< only words at least so likely as this share of the likeliest
};

/// Throws InputError, naming the option, when one is out of its range.
void check(const SamplingOptions& options);

/// The probabilities with which words are drawn, in the order of `words` (by score, best first). Those that have none
/// are taken off its end. Temperature, top-k, top-p and min-p apply in this order, each to what the one before left.
std::vector<double> chances(std::vector<NextWord>& words, const SamplingOptions& options);

/// Which of them it is. u in [0, 1).
std::size_t draw(const std::vector<double>& chances, double u);

}  // namespace attend
