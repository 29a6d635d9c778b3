// Loops over memory without structure: one pass, all threads, no allocation. Pointers may not overlap unless they are
// the same.
#pragma once
#include <cstdint>

namespace attend::kernels {

/// y += x.
void add_to(std::int64_t n, const float* x, float* y);

}  // namespace attend::kernels
