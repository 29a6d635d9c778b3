// Sums of embeddings: one vector for each bag of words. Embedding, position weights and sum are one pass, so that the
// vectors of the single words are never stored.
#pragma once
#include "attend/core/tensor.h"

namespace attend {

/// The id of a place in a bag that has no word.
constexpr std::int32_t kNoWord = -1;

/// How much each word of a bag counts, in each dimension (for example position encoding, Sukhbaatar et al. 2015,
/// section 4.1). They are constants and get no gradient.
struct BagWeights {
  Tensor rows = {};       ///< [P, D]; undefined: all weights are 1
  Tensor positions = {};  ///< int32, with the shape of the ids: the row of each word
};

/// y[...] = Σ_j weights[positions[..., j]] ∘ table[ids[..., j]].
/// table [V, D], ids int32 [..., J] of at most 3 dimensions -> [..., D]
/// kNoWord is skipped, so bags may have different sizes; the sum of an empty bag is 0. Throws for other ids outside of
/// [0, V), with their position.
Tensor embedding_bag(const Tensor& table, const Tensor& ids, const BagWeights& weights = {});

}  // namespace attend
