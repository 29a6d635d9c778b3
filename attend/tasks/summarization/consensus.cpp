#include "attend/tasks/summarization/consensus.h"

#include <array>
#include <string_view>

#include "attend/core/error.h"
#include "attend/metrics/rouge.h"

namespace attend {

std::size_t consensus(std::span<const std::string> texts, std::span<const double> probabilities) {
  if (texts.empty() || texts.size() != probabilities.size())
    fail("consensus", "expected at least one text, and a probability for each: got ", texts.size(), " texts and ",
         probabilities.size(), " probabilities");
  std::size_t best = 0;
  double highest = -1;
  for (std::size_t i = 0; i < texts.size(); ++i) {
    double expected = 0;
    for (std::size_t other = 0; other < texts.size(); ++other) {
      const std::array<std::string_view, 1> reference = {texts[other]};
      for (const Rouge kind : {Rouge::one, Rouge::two, Rouge::longest})
        expected += probabilities[other] * rouge_score(kind, texts[i], reference, {.stem = true, .unicode = true}).f;
    }
    if (expected > highest) highest = expected, best = i;
  }
  return best;
}

}  // namespace attend
