// Options of fine-tuning that are the same for every head of BERT's family.
#pragma once
#include <cstdint>

#include "attend/models/bert.h"

namespace attend {

/// Excludes the embeddings and the first layers from training. Throws InputError if the model has fewer layers.
void freeze(Bert& model, std::int64_t layers);
/// Sets all dropout probabilities.
void set_dropout(Bert& model, float dropout);

}  // namespace attend
