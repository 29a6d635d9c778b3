// Masking of tokens for a masked language model (Devlin et al. 2019, section 3.1).
#pragma once
#include <cstdint>
#include <vector>

#include "attend/core/random.h"

namespace attend {

/// The kinds of tokens, by which masking decides what it may mask.
enum TokenKind : std::uint8_t {
  kInsideWord,   ///< a token that continues a word
  kBeginOfWord,  ///< the first token of a word
  kSpecialToken  ///< [CLS], [SEP]: never masked
};

struct MaskingOptions {
  float share = 0.15f;                   ///< fraction of the tokens to predict
  float masked = 0.8f;                   ///< of those, the fraction that become the mask
  float random = 0.1f;                   ///< of those, the fraction that become a random token; the rest stay
  bool whole_words = false;              ///< all tokens of a word, or none
  std::int32_t mask = 0;                 ///< its id
  std::vector<std::int32_t> words = {};  ///< the ids from which random tokens are sampled
};
/// What was masked in some ids, which are changed in place.
struct Hidden {
  std::vector<std::int32_t> places, words;  ///< where, and the ids that stood there
};
/// Masks at least one token where there is any that may be. `begins` has the kind of each token. The key alone decides
/// which are masked.
Hidden hide(std::vector<std::int32_t>& ids, const std::vector<std::uint8_t>& begins, const MaskingOptions& options,
            PhiloxKey key);

}  // namespace attend
