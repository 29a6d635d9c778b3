// The memory that a training run needs, estimated before it begins.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "attend/models/model.h"

namespace attend {

/// All in bytes.
struct TrainingMemory {
  std::int64_t parameters = 0;   ///< those that are trained
  std::int64_t gradients = 0;    ///< of these
  std::int64_t optimizer = 0;    ///< Adam's moments, and the moving average of the parameters
  std::int64_t activations = 0;  ///< what the forward pass of a batch keeps for the backward pass; 0: not known

  /// What the run allocates when the parameters exist already.
  std::int64_t needed() const { return gradients + optimizer + activations; }
  /// "500.0 MB of parameters to train, 500.0 MB of gradients, 1.00 GB of optimizer state, about 2.00 GB for a batch"
  std::string text() const;
};
TrainingMemory training_memory(const std::vector<NamedTensor>& trained, bool average, std::int64_t activations);

/// Estimates the activations of a batch from the sizes of the linear layers: twice their outputs are kept. `logits`:
/// how many logits there are for each token. With `recompute`, only the inputs of the blocks are kept, and one block.
/// Models whose layers share their weights (ALBERT) need more.
std::int64_t activation_bytes(Model& model, std::int64_t tokens, double logits, bool recompute);

/// Throws InputError, naming the flags that help, if a run needs more than `free` bytes; 0: the free memory is not
/// known.
void check_memory(const TrainingMemory& memory, std::int64_t free);

}  // namespace attend
