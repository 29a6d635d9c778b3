// Embedding lookup: rows of a table, by id.
#pragma once
#include <cstdint>

#include "attend/core/tensor.h"

namespace attend {

struct EmbeddingOptions {
  std::int32_t padding = -1;  ///< the row of this id gets no gradient; -1: all rows get one
  float scale = 1.f;          ///< factor of the rows; √D in the Transformer
};

/// y[...] = scale · table[ids[...]].   table [V, D], ids int32 [...] of at most 3 dimensions -> [..., D]
/// If the table already has a gradient, for example from a tied output layer, the backward pass only adds to the rows
/// of these ids. Throws for an id outside of [0, V), with its position.
Tensor embedding(const Tensor& table, const Tensor& ids, const EmbeddingOptions& options = {});

}  // namespace attend
