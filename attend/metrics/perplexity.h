// How well a language model expects a text: perplexity, and bits per byte, which compares models whatever their tokens.
#pragma once
#include <cmath>
#include <cstdint>
#include <numbers>

namespace attend {

/// What a model gave to texts. Those of several texts add up.
struct Likelihood {
  double logprob = 0;       ///< natural logarithms of the tokens' probabilities, summed
  std::int64_t tokens = 0;  ///< that have a probability: the first may have none, when nothing precedes it
  std::int64_t bytes = 0;   ///< of the text in UTF-8

  Likelihood& operator+=(const Likelihood& other) {
    logprob += other.logprob, tokens += other.tokens, bytes += other.bytes;
    return *this;
  }

  /// exp(-logprob / tokens): among how many equally likely tokens the model seems to choose. Of no tokens, 1.
  double perplexity() const { return tokens > 0 ? std::exp(-logprob / static_cast<double>(tokens)) : 1; }
  /// -log₂(probability) / bytes: the length of the text if the model compressed it. Of no bytes, 0.
  double bits_per_byte() const { return bytes > 0 ? -logprob / (std::numbers::ln2 * static_cast<double>(bytes)) : 0; }
};

}  // namespace attend
