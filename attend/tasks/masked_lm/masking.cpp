#include "attend/tasks/masked_lm/masking.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "attend/tasks/masked_lm/random_sequence.h"

namespace attend {

MaskedTokens mask_tokens(std::vector<std::int32_t>& ids, const std::vector<std::uint8_t>& begins,
                         const MaskingOptions& options, PhiloxKey key) {
  // Ranges [first, second) of tokens that are masked together. Special tokens are left out.
  std::vector<std::pair<std::size_t, std::size_t>> units;
  std::size_t tokens = 0;
  for (std::size_t i = 0; i < ids.size(); ++i) {
    if (begins[i] == kSpecialToken) continue;
    ++tokens;
    const bool joins = options.whole_words && begins[i] == kInsideWord && !units.empty() && units.back().second == i;
    if (joins)
      ++units.back().second;
    else
      units.emplace_back(i, i + 1);
  }
  MaskedTokens masked;
  if (tokens == 0) return masked;
  const auto wanted =
      std::max<std::size_t>(1, static_cast<std::size_t>(std::lround(static_cast<float>(tokens) * options.share)));
  RandomSequence random(key);
  for (std::size_t left = units.size(); left > 0 && masked.positions.size() < wanted; --left) {
    const std::size_t choice = random.below(left);
    std::swap(units[choice], units[left - 1]);
    for (std::size_t i = units[left - 1].first; i < units[left - 1].second; ++i)
      masked.positions.push_back(static_cast<std::int32_t>(i));
  }
  std::ranges::sort(masked.positions);
  for (const std::int32_t place : masked.positions) {
    std::int32_t& id = ids[static_cast<std::size_t>(place)];
    masked.ids.push_back(id);
    const float what = random.uniform();
    if (what < options.masked)
      id = options.mask;
    else if (what < options.masked + options.random && !options.random_ids.empty())
      id = options.random_ids[random.below(options.random_ids.size())];
  }
  return masked;
}

}  // namespace attend
