// Captured attention for other programs.
#pragma once
#include <cstdint>
#include <string>

#include "attend/attention/map.h"

namespace attend {

struct AttentionJsonOptions {
  std::string model = {};   ///< written as "model", if it is not empty
  std::int64_t top_k = 0;   ///< "rows" of [key, weight] pairs, so many for each query, instead of "weights"; 0: all
  bool rollout = false;     ///< of each view that can be rolled out, as "rollout", shaped as a head's weights
  bool main_layers = true;  ///< "layers" of the main view beside "views"; never with top_k
};

/// One JSON object on one line, without a line end:
///   kind, text, views: [{name, causal, query_tokens, key_tokens, query_words, key_words,
///                        layers: [{layer, heads: [{head, weights: [[…]]}]}], rollout: [[…]] if asked for}],
///   tokens (or source_tokens and target_tokens) as the vocabulary writes them, layers: [layer][head][query][key],
///   and where they are known truncated, translation, score, alignments, generated, generated_text, logprobs.
/// Weights have as many digits as it takes to read back the same float.
std::string to_json(const AttentionMap& map, const AttentionJsonOptions& options = {});

}  // namespace attend
