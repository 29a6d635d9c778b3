// In which language a text is written, as far as its letters and its most frequent words tell.
#pragma once
#include <string>
#include <string_view>
#include <vector>

namespace attend {

struct LanguageGuess {
  std::string language;   ///< ISO 639-1: "it"
  double confidence = 0;  ///< 0 to 1
};

/// The languages that a text may be in, the most likely first. The evidence is the script of the letters and the
/// function words of the language ("the", "and", "of"). The confidence is low where there is little evidence: for a few
/// words, for names and numbers, and for a text in several languages. The confidences add up to at most 1.
///
/// It knows some forty languages. `candidates` adds languages that it does not know; they can only be told by their
/// script.
std::vector<LanguageGuess> identify_language(std::string_view text, const std::vector<std::string>& candidates = {});

}  // namespace attend
