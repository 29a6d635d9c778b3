// The mixture of a pointer-generator network (See, Liu and Manning 2017), which generates a token of the vocabulary or
// copies one of the source, and its coverage loss.
#pragma once
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "attend/core/tensor.h"

namespace attend {

/// The token ids of one source, grouped by id. Immutable; the rows of a beam share it.
class PointerSource {
 public:
  explicit PointerSource(std::span<const std::int32_t> ids);
  std::int64_t size() const { return std::ssize(places_); }
  const std::vector<std::int32_t>& distinct() const { return distinct_; }  ///< the different ids, ascending
  const std::vector<std::int32_t>& places() const { return places_; }      ///< of each position in distinct()

 private:
  std::vector<std::int32_t> distinct_, places_;
};
using PointerSources = std::vector<std::shared_ptr<const PointerSource>>;
/// The sources of a padded batch.   ids int32 [B, S], lengths int32 [B]
PointerSources pointer_sources(const Tensor& ids, const Tensor& lengths);

/// log(g softmax(logits) + (1 - g) copied) with g = sigmoid(gate), where copied[v] is the sum of the weights of all
/// positions of the source with the id v (See et al. 2017, eq. 9).
///   logits [B, T, V], weights [B, T, S], gate [B, T, 1], B sources of at most S tokens -> [B, T, V]
/// The rows of `weights` are distributions; those beyond the length of a source are not read and get no gradient.
/// Throws InputError if a source has an id that is not in 0 … V - 1.
Tensor pointer_mixture(const Tensor& logits, const Tensor& weights, const Tensor& gate, const PointerSources& sources);

/// Σ_t Σ_s min(w[t, s], Σ_{u<t} w[u, s]), summed over the batch: large if the same tokens are attended to again and
/// again (See et al. 2017, eq. 12).   weights [B, T, S], lengths int32 [B] of the targets, at most T -> []
Tensor coverage_loss(const Tensor& weights, const Tensor& lengths);

}  // namespace attend
