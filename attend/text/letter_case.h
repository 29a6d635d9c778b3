// The letter case of tokens, for models that read text in lower case and see separately how each token was written.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "attend/text/tokenizer.h"

namespace attend {

enum class LetterCase : std::uint8_t {
  lower,        ///< no upper-case letter: also of punctuation, and of scripts without case
  capitalized,  ///< only the first letter is upper case: "Gas"
  upper,        ///< another letter is, too: "FERC", "eBay"
};
inline constexpr std::int64_t kLetterCases = 3;

LetterCase letter_case(std::string_view text);

/// The ids of a text's tokens, plus `step` times the LetterCase of each; `step` is the size of the vocabulary,
/// or 0 for the ids alone.
std::vector<std::int32_t> ids_with_case(const Encoding& encoding, std::string_view text, std::int64_t step);

/// Writes each word of `words` as it is written most often in `text` (of equally frequent forms, the first), and leaves
/// words that are not in the text as they are. Words consist of letters, digits and marks.
///   restore_case("new ferc rules", "The FERC has rules.") -> "new FERC rules"
std::string restore_case(std::string_view words, std::string_view text);

}  // namespace attend
