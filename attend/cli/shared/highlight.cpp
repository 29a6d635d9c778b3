#include "attend/cli/shared/highlight.h"

#include <algorithm>

namespace attend::cli {

WeightedText highlighted(const std::string& document, const Summary& summary) {
  WeightedText weighted;
  const auto text = [&](std::int64_t begin, std::int64_t end) {
    return document.substr(static_cast<std::size_t>(begin), static_cast<std::size_t>(end - begin));
  };
  std::int64_t end = 0;
  for (const SourceSentence& sentence : summary.sentences) {
    const int breaks =
        weighted.parts.empty() ? 0 : static_cast<int>(std::ranges::count(text(end, sentence.span.begin), '\n'));
    weighted.parts.push_back({text(sentence.span.begin, sentence.span.end), sentence.weight, breaks});
    end = sentence.span.end;
  }
  return weighted;
}

}  // namespace attend::cli
