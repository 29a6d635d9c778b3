#include "attend/tasks/masked_lm/masking.h"

#include <algorithm>
#include <utility>

#include "attend/tasks/masked_lm/random_sequence.h"

namespace attend {

Hidden hide(std::vector<std::int32_t>& ids, const std::vector<std::uint8_t>& begins, const MaskingOptions& options,
            PhiloxKey key) {
  // Units that are masked together: [first, second) of tokens that are not special.
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
  Hidden hidden;
  if (tokens == 0) return hidden;
  const auto wanted =
      std::max<std::size_t>(1, static_cast<std::size_t>(static_cast<float>(tokens) * options.share + 0.5f));
  RandomSequence random(key);
  for (std::size_t left = units.size(); left > 0 && hidden.places.size() < wanted; --left) {
    const std::size_t choice = random.below(left);
    std::swap(units[choice], units[left - 1]);
    for (std::size_t i = units[left - 1].first; i < units[left - 1].second; ++i)
      hidden.places.push_back(static_cast<std::int32_t>(i));
  }
  std::ranges::sort(hidden.places);
  for (const std::int32_t place : hidden.places) {
    std::int32_t& id = ids[static_cast<std::size_t>(place)];
    hidden.words.push_back(id);
    const float what = random.uniform();
    if (what < options.masked)
      id = options.mask;
    else if (what < options.masked + options.random && !options.words.empty())
      id = options.words[random.below(options.words.size())];
  }
  return hidden;
}

}  // namespace attend
