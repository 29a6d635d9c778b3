// What each head does, in numbers: how spread out it looks, how far, and at what.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "attend/attention/map.h"
#include "attend/explain/page.h"

namespace attend {

/// Means over the rows of a head that look at anything, or of the roll-out of all layers. Shares are of the weight;
/// they overlap where tokens are both, and need not add up to 1.
struct HeadStatistics {
  std::int64_t layer = 0, head = 0;
  bool rollout = false;  ///< then of no layer and head
  double entropy = 0;    ///< of a row, in bits: 0 looks at one token, log2(T) at all alike
  double distance = 0;   ///< |query - key| in tokens, by weight; of a cross view, between the places in their texts
  double previous = 0;   ///< to the token before, this and the two following not of a cross view
  double next = 0;       ///< to the token after
  double self = 0;       ///< to the token itself
  double first = 0;      ///< to the first token: [CLS], or where GPT-2 rests
  double separator = 0;  ///< to special tokens that are not the first: [SEP], </s>
  double same_word = 0;  ///< to the same token at another place
};

/// "3.5": layer and head; or "roll-out".
std::string name_of(const HeadStatistics& head);

/// All heads of a view, layer by layer. In a cross view places are scaled: the last token of one text is opposite the
/// last of the other.
std::vector<HeadStatistics> head_statistics(const AttentionView& view);
/// Of what attention_rollout makes of it; throws as that does.
HeadStatistics rollout_statistics(const AttentionView& view);
/// The mean of several texts' statistics of the same heads.
std::vector<HeadStatistics> mean_of(const std::vector<std::vector<HeadStatistics>>& texts);
Table table_of(const std::vector<HeadStatistics>& heads, AttentionKind kind);

}  // namespace attend
