// Sums of embeddings: each bag of words becomes the weighted sum of the rows of its words. The loops use all threads.
// Sums are added in a fixed order, so that results do not depend on the number of threads.
#pragma once
#include <cstdint>

namespace attend::kernels {

/// Bags of ids [bags, words], for a table of rows of `width` floats.
struct EmbeddingBags {
  std::int64_t bags = 0, words = 0, width = 0;
  const std::int32_t* ids = nullptr;        ///< rows of the table; negative: there is no word
  const float* weights = nullptr;           ///< [P, width], or null: all 1
  const std::int32_t* positions = nullptr;  ///< [bags, words]: the row of `weights` for each word
};
/// y[n] = Σ_j weights[positions[n, j]] ∘ table[ids[n, j]].
void embedding_bag(const EmbeddingBags& bags, const float* table, float* y);
/// dtable[ids[n, j]] += weights[positions[n, j]] ∘ dy[n], in the order of n and j.
void embedding_bag_backward(const EmbeddingBags& bags, const float* dy, float* dtable);

}  // namespace attend::kernels
