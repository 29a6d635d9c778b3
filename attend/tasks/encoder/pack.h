// Converts padded batches to the packed sequences that models of BERT's family take.
#pragma once
#include "attend/data/batches.h"
#include "attend/models/bert.h"

namespace attend {

/// Removes the padding.   types int32 [B, T], or undefined (all 0)
BertInput pack(const TokenBatch& batch, const Tensor& types = {});

}  // namespace attend
