// Word dropout: replaces random tokens in training, so that a model relies less on single words.
#pragma once
#include <cstdint>
#include <vector>

#include "attend/core/tensor.h"

namespace attend {

/// Replaces each token by `unknown` with probability p, except padding and the tokens in `kept`. The random numbers are
/// those of default_generator().   ids int32 [B, T], lengths int32 [B]
void drop_words(const Tensor& ids, const Tensor& lengths, std::int32_t unknown, const std::vector<std::int32_t>& kept,
                float p);

}  // namespace attend
