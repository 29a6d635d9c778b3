// Gap sentences (Zhang et al. 2020, "PEGASUS"): a summarizer can learn from texts without summaries if it generates a
// sentence that was taken out of each.
#pragma once
#include <optional>
#include <string>
#include <string_view>

namespace attend {

struct GapSentence {
  std::string sentence;  ///< the sentence with the highest ROUGE-1 F1 against all others; the first one of equal ones
  std::string rest;      ///< the text without it
};

/// Empty if the text has fewer than two sentences, or no words. White space of both results is as in the text.
std::optional<GapSentence> gap_sentence(std::string_view text);

}  // namespace attend
