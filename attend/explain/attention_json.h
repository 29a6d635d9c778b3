// Captured attention as JSON, for other programs.
#pragma once
#include <cstdint>
#include <string>

#include "attend/attention/map.h"

namespace attend {

struct AttentionJsonOptions {
  std::string model = {};   ///< written as "model" unless empty
  std::int64_t top_k = 0;   ///< write "rows" with the k greatest weights of each query instead of "weights"; 0: all
  bool rollout = false;     ///< add "rollout" to each view that has one, in the shape of a head's weights
  bool main_layers = true;  ///< add "layers" of the main view; ignored with top_k
};

/// One JSON object on one line, without a newline at the end:
///   kind, text, views: [{name, causal, query_tokens, key_tokens, query_words, key_words,
///                        layers: [{layer, heads: [{head, weights: [[…]]}]}], rollout: [[…]] if requested}],
///   tokens (or source_tokens and target_tokens) as in the vocabulary, layers: [layer][head][query][key],
///   and, if known, truncated, translation, score, alignments, generated, generated_text, logprobs.
/// Weights have enough digits to read back the same float.
std::string to_json(const AttentionMap& map, const AttentionJsonOptions& options = {});

}  // namespace attend
