// The preparation of fine-tuning, which is the same for every head of BERT's family.
#pragma once
#include <cstdint>
#include <optional>
#include <vector>

#include "attend/models/bert.h"
#include "attend/nn/module.h"

namespace attend {

/// Makes the parameters leaves of the tape, and returns those that are to be trained. With `frozen_layers` above 0, the
/// embeddings and this many of the first layers are not; throws InputError if the model has fewer layers. `dropout`
/// replaces all dropout probabilities.
std::vector<NamedTensor> prepare_fine_tuning(Bert& model, std::optional<float> dropout, std::int64_t frozen_layers);

}  // namespace attend
