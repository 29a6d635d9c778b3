// The two texts of a line with a tab between them.
#pragma once
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "attend/core/text_error.h"

namespace attend {

struct TextPair {
  std::string_view first, second;
  std::int64_t place = 0;  ///< the byte at which the second text begins
};
/// The pair in text i. Throws TextError if it has no tab.
inline TextPair pair_of(std::span<const std::string> texts, std::size_t i) {
  const std::string_view line = texts[i];
  const std::size_t tab = line.find('\t');
  if (tab == std::string_view::npos) throw TextError(i, "has no tab between the two texts of a pair");
  return {line.substr(0, tab), line.substr(tab + 1), static_cast<std::int64_t>(tab) + 1};
}

}  // namespace attend
