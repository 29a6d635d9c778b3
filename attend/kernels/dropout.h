// Dropout. The mask is a function of key and index, so the forward and backward pass use the same loop.
#pragma once
#include "attend/core/random.h"
#include "attend/kernels/dropout_rate.h"

namespace attend::kernels {

/// y = x * m, or y += x * m, where m[i] is 0 or rate.scale, depending on 16 random bits of `key` for element i.
void dropout(std::int64_t n, DropoutRate rate, PhiloxKey key, const float* x, float* y, bool accumulate);

}  // namespace attend::kernels
