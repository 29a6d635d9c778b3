// Cross-entropy of logits and target ids. The softmax is part of the op.
#pragma once
#include "attend/core/tensor.h"

namespace attend {

enum class Reduction : std::uint8_t { mean, sum, none };

struct CrossEntropyOptions {
  float label_smoothing = 0.f;  ///< fraction of the target probability that is spread uniformly over all V ids
  std::int32_t ignored = -100;  ///< rows with this target are ignored
  Reduction reduction = Reduction::mean;  ///< mean: over the rows that are not ignored; 0 if there are none
};

/// -log softmax(logits)[target] for each row.   logits [..., V], targets int32 [...] -> [], or [...] with
/// Reduction::none
/// The softmax is never stored: the backward pass computes the gradient from the logits, in-place if no other tensor
/// shares their memory. Throws, with the position, if a target is neither in 0..V-1 nor the ignored id.
Tensor cross_entropy(const Tensor& logits, const Tensor& targets, const CrossEntropyOptions& options = {});

}  // namespace attend
