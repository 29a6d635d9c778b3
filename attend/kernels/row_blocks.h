// A matrix product for some dozens or hundreds of rows of x, such as one text or a decoding batch. This is too few for
// packing the weights, as general matrix products do. Instead, x is packed, and the weights are used as they are
// stored.
#pragma once
#include "attend/kernels/few_rows.h"

namespace attend::kernels {

/// y [m, n] (=|+=) x [m, k] · Wᵀ + bias, as in few_rows(); `bias` [n] may be null. The bits of an element depend only
/// on its row of x, its row of W and the instruction set.
void row_blocks(const FewRows& shape, const float* x, const float* w, float* y, const float* bias);

/// The maximum number of rows m, and the minimum number of columns n, for which row_blocks is faster than oneDNN.
inline constexpr std::int64_t kMostInRowBlocks = 512, kLeastForRowBlocks = 384;

}  // namespace attend::kernels
