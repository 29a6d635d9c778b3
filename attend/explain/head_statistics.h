// Statistics of attention heads: how widely a head spreads its weight, how far, and on which tokens.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "attend/attention/map.h"
#include "attend/explain/page.h"

namespace attend {

/// Means over the rows of a head that have any weight, or over the roll-out of all layers. The shares are fractions of
/// the attention weight. They can overlap, and need not add up to 1.
struct HeadStatistics {
  std::int64_t layer = 0, head = 0;
  bool rollout = false;  ///< of the roll-out; layer and head have no meaning then
  double entropy = 0;    ///< in bits: 0 if all weight is on one token, log2(T) if it is even over T tokens
  double distance = 0;   ///< mean |query - key| in tokens, weighted
  double previous = 0;   ///< share on the token before; this and the next two are 0 in a cross view
  double next = 0;       ///< share on the token after
  double self = 0;       ///< share on the token itself
  double first = 0;      ///< share on the first token, such as [CLS]
  double separator = 0;  ///< share on special tokens that are not the first: [SEP], </s>
  double same_word = 0;  ///< share on the same token at another place
};

/// "3.5" for layer 3, head 5; or "roll-out".
std::string name_of(const HeadStatistics& head);

/// All heads of a view, layer by layer. For the distance in a cross view, the positions of the two texts are scaled to
/// the same length.
std::vector<HeadStatistics> head_statistics(const AttentionView& view);
/// The statistics of attention_rollout(view); throws as that function does.
HeadStatistics rollout_statistics(const AttentionView& view);
/// The mean over several texts, for each head.
std::vector<HeadStatistics> mean_of(const std::vector<std::vector<HeadStatistics>>& texts);
Table table_of(const std::vector<HeadStatistics>& heads, AttentionKind kind);

}  // namespace attend
