// Softmax and cross-entropy in one: a pass over the logits forward, a pass backward, and nothing of their size kept.
#pragma once
#include <cstdint>

namespace attend::kernels {

/// loss = log_sum - (1 - smoothing) * logits[target] - smoothing * mean(logits), 0 where target is `ignored`.
/// logits [rows, cols]; targets, loss, log_sum [rows]. log_sum is the log of the sum of e^logits, for the way back;
/// null when there is none.
void cross_entropy(std::int64_t rows, std::int64_t cols, const float* logits, const std::int32_t* targets,
                   std::int32_t ignored, float smoothing, float* loss, float* log_sum);

/// dlogits (+)= scale * (softmax(logits) - (1 - smoothing) * onehot(target) - smoothing / cols), 0 where ignored.
/// scale is scales[row], or the one scales[0] when `one_scale`. dlogits may be the logits' memory, unless accumulating.
struct CrossEntropyGradient {
  const float* logits = nullptr;
  const std::int32_t* targets = nullptr;
  const float* log_sum = nullptr;
  const float* scales = nullptr;
  bool one_scale = true;
  float factor = 1.f;  ///< each scale is multiplied by it
  std::int32_t ignored = -100;
  float smoothing = 0.f;
  float* dlogits = nullptr;
  bool accumulate = false;
};
void cross_entropy_backward(std::int64_t rows, std::int64_t cols, const CrossEntropyGradient& p);

}  // namespace attend::kernels
