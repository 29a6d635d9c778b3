#include "attend/models/generative_model.h"

#include <vector>

#include "attend/core/error.h"

namespace attend {

TokenBatch pad_sources(std::span<const GenerationInput> inputs, std::int32_t padding) {
  std::vector<std::span<const std::int32_t>> ids;
  std::vector<Tensor> features;
  for (const GenerationInput& input : inputs)
    if (input.features.defined())
      features.push_back(input.features);
    else
      ids.push_back(input.source);
  if (features.empty()) return pad(ids, padding);
  if (!ids.empty())
    fail("generate", "a batch is of ids or of features: got ", ids.size(), " inputs of ids and ", features.size(),
         " of features");
  const FeatureBatch batch = pad(features);
  return {batch.features, batch.lengths, batch.frames};
}

}  // namespace attend
