// Perplexity of language models, and bits per byte, which can be compared between models with different tokenizers.
#pragma once
#include <cmath>
#include <cstdint>
#include <numbers>

namespace attend {

/// The likelihood of a text under a model. The values of several texts can be added.
struct Likelihood {
  double logprob = 0;       ///< sum of the natural logarithms of the token probabilities
  std::int64_t tokens = 0;  ///< number of tokens with a probability; the first token of a text may have none
  std::int64_t bytes = 0;   ///< length of the text in UTF-8

  Likelihood& operator+=(const Likelihood& other) {
    logprob += other.logprob, tokens += other.tokens, bytes += other.bytes;
    return *this;
  }

  /// exp(-logprob / tokens), or 1 without tokens.
  double perplexity() const { return tokens > 0 ? std::exp(-logprob / static_cast<double>(tokens)) : 1; }
  /// -log₂(probability) / bytes, or 0 without bytes: the size of the text if it is compressed with the model.
  double bits_per_byte() const { return bytes > 0 ? -logprob / (std::numbers::ln2 * static_cast<double>(bytes)) : 0; }
};

}  // namespace attend
