// The k largest elements of long rows, and log(Σ e^x). A search over a vocabulary needs only these, and not the softmax
// of all logits.
#pragma once
#include <cstdint>

namespace attend::kernels {

/// For each row of x [rows, cols]: log(Σ e^x) -> log_sum_exp [rows], and the k largest elements and their indices ->
/// values, places [rows, k]. The largest comes first; equal elements are sorted by index. -infinity is never included:
/// if a row has fewer than k other elements, the remaining places are -1. If a row contains NaN, its log_sum_exp is
/// NaN.
void best_of_rows(std::int64_t rows, std::int64_t cols, const float* x, std::int64_t k, float* log_sum_exp,
                  float* values, std::int32_t* places);

}  // namespace attend::kernels
