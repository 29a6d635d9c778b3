// The preparation of fine-tuning, which is the same for every head of BERT's family.
#pragma once
#include <cstdint>
#include <optional>
#include <vector>

#include "attend/models/adapter.h"
#include "attend/models/bert.h"
#include "attend/nn/module.h"

namespace attend {

struct BertTraining {
  std::optional<float> dropout = {};  ///< replaces all dropout probabilities
  std::int64_t frozen_layers = 0;     ///< above 0: do not train the embeddings and this many of the first layers
  AdapterInfo adapter = {};           ///< if adapter.lora is on: train adapters, and the modules adapter.saved
  std::uint64_t seed = 1;             ///< of new adapters
};
/// Returns the parameters to train, as leaves of the tape. Throws InputError if the model has fewer layers than are to
/// be frozen, or if it has no layers for the adapters.
std::vector<NamedTensor> prepare_fine_tuning(Bert& model, const BertTraining& training);

/// The modules of the model's head, and those of the parameters named in `initialised` (see BertLoading): adapters
/// leave them to be trained fully.
std::vector<std::string> head_modules(Bert& model, const std::vector<std::string>& initialised);

}  // namespace attend
