// Fused softmax and cross-entropy: one pass over the logits forward and one backward, without a temporary of their
// size.
#pragma once
#include <cstdint>

namespace attend::kernels {

/// loss = log_sum - (1 - smoothing) * logits[target] - smoothing * mean(logits), 0 where target is `ignored`.
/// logits [rows, cols]; targets, loss, log_sum [rows]. log_sum gets log(Σ e^logits), for the backward pass; may be
/// null.
void cross_entropy(std::int64_t rows, std::int64_t cols, const float* logits, const std::int32_t* targets,
                   std::int32_t ignored, float smoothing, float* loss, float* log_sum);

/// dlogits (+)= scale * (softmax(logits) - (1 - smoothing) * onehot(target) - smoothing / cols), 0 where ignored.
/// scale is factor * scales[row], or factor * scales[0] if `one_scale`. dlogits may be the memory of the logits, unless
/// `accumulate`.
struct CrossEntropyGradient {
  const float* logits = nullptr;
  const std::int32_t* targets = nullptr;
  const float* log_sum = nullptr;
  const float* scales = nullptr;
  bool one_scale = true;
  float factor = 1.f;
  std::int32_t ignored = -100;
  float smoothing = 0.f;
  float* dlogits = nullptr;
  bool accumulate = false;
};
void cross_entropy_backward(std::int64_t rows, std::int64_t cols, const CrossEntropyGradient& p);

}  // namespace attend::kernels
