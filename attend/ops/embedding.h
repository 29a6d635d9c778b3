// Rows of a table, by id.
#pragma once
#include <cstdint>

#include "attend/core/tensor.h"

namespace attend {

struct EmbeddingOptions {
  std::int32_t padding = -1;  ///< the row of this id gets no gradient; -1: every row does
  float scale = 1.f;          ///< what rows are multiplied by; the Transformer has √D here
};

/// y[...] = scale · table[ids[...]].   table [V, D], ids int32 [...] of at most 3 dimensions -> [..., D]
/// The gradient touches only the rows that were looked up, if there is already one to add to (a tied output layer's).
/// Throws on an id that is not in [0, V), naming it and its position.
Tensor embedding(const Tensor& table, const Tensor& ids, const EmbeddingOptions& options = {});

}  // namespace attend
