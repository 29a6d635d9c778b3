// Cross-entropy of logits against target ids, with the softmax inside.
#pragma once
#include "attend/core/tensor.h"

namespace attend {

enum class Reduction : std::uint8_t { mean, sum, none };

struct CrossEntropyOptions {
  float label_smoothing = 0.f;            ///< this share of the target's mass goes to all V ids alike
  std::int32_t ignored = -100;            ///< rows with this target count for nothing
  Reduction reduction = Reduction::mean;  ///< mean: over the rows that are not ignored; 0 if all are
};

/// -log softmax(logits)[target], row by row.   logits [..., V], targets int32 [...] -> [] or, with Reduction::none,
/// [...] The softmax is never stored: backward makes the gradient from the logits, in their own memory when nobody else
/// holds them. Throws when a target is neither in 0..V-1 nor the ignored id, with its position.
Tensor cross_entropy(const Tensor& logits, const Tensor& targets, const CrossEntropyOptions& options = {});

}  // namespace attend
