// Masking of tokens for a masked language model (Devlin et al. 2019, section 3.1).
#pragma once
#include <cstdint>
#include <vector>

#include "attend/core/random.h"

namespace attend {

/// The kind of a token, which decides how it may be masked.
enum TokenKind : std::uint8_t {
  kInsideWord,   ///< a token that continues a word
  kBeginOfWord,  ///< the first token of a word
  kSpecialToken  ///< [CLS], [SEP]: never masked
};

struct MaskingOptions {
  float share = 0.15f;                        ///< fraction of the tokens to predict
  float masked = 0.8f;                        ///< of those, the fraction that is replaced by the mask token
  float random = 0.1f;                        ///< of those, the fraction that is replaced by a random token; the rest
                                              ///< stays unchanged
  bool whole_words = false;                   ///< mask all tokens of a word or none
  std::int32_t mask = 0;                      ///< the id of the mask token
  std::vector<std::int32_t> random_ids = {};  ///< the ids from which random tokens are sampled
};
/// The result of mask_tokens().
struct MaskedTokens {
  std::vector<std::int32_t> positions, ids;  ///< the indices of the tokens to predict, and their original ids
};
/// Masks tokens of `ids` in place, at least one unless all are special. `begins` has the TokenKind of each token. The
/// same key masks the same tokens.
MaskedTokens mask_tokens(std::vector<std::int32_t>& ids, const std::vector<std::uint8_t>& begins,
                         const MaskingOptions& options, PhiloxKey key);

}  // namespace attend
