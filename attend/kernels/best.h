// The few largest elements of long rows, and the logarithm of the sum of all exponentials beside them: what a search
// over a vocabulary needs of its logits, without a softmax of the whole.
#pragma once
#include <cstdint>

namespace attend::kernels {

/// For each row of x [rows, cols]: log(sum of e^x) -> log_sum_exp [rows], and the k largest elements, best first and
/// equal ones by their place -> values, places [rows, k]. Elements of -infinity are never among them: where a row has
/// fewer than k others, the remaining places are -1. A NaN in a row makes its log_sum_exp NaN.
void best_of_rows(std::int64_t rows, std::int64_t cols, const float* x, std::int64_t k, float* log_sum_exp,
                  float* values, std::int32_t* places);

}  // namespace attend::kernels
