// A linear layer over some dozens or hundreds of rows, such as one text or a batch that is being decoded: too few to
// pay for packing the weights, as general products do. The rows are packed instead, and the weights, used as a file
// holds them, stream by.
#pragma once
#include "attend/kernels/few_rows.h"

namespace attend::kernels {

/// y [m, n] (=|+=) x [m, k] · Wᵀ + bias, as few_rows has it; `bias` [n] may be null. An element's bits depend on its
/// row of x, its row of W and the instruction set alone.
void row_blocks(const FewRows& shape, const float* x, const float* w, float* y, const float* bias);

/// With more rows than this packed weights pay; with fewer columns packed rows do not.
inline constexpr std::int64_t kMostInRowBlocks = 512, kLeastForRowBlocks = 384;

}  // namespace attend::kernels
