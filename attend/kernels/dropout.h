// Dropout over memory: the mask is a function of key and index, so forward and backward are the same loop.
#pragma once
#include "attend/core/random.h"
#include "attend/kernels/dropout_rate.h"

namespace attend::kernels {

/// y = x * m, or y += x * m, with m[i] = 0 or rate.scale by the 16 bits that key has for i.
void dropout(std::int64_t n, DropoutRate rate, PhiloxKey key, const float* x, float* y, bool accumulate);

}  // namespace attend::kernels
