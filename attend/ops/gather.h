// Selection of rows by index.
#pragma once
#include "attend/core/tensor.h"

namespace attend {

/// Selects different rows for each sequence: y[b] = x[b, ids[b]]. For example, the last state of each sequence.
/// x [B, T, ...], ids int32 [B] -> [B, ...], or ids [B, K] -> [B, K, ...]
Tensor gather(const Tensor& x, const Tensor& ids);
/// Selects the same rows everywhere: y[..., k, ...] = x[..., ids[k], ...].
/// x [..., N, ...], ids int32 [K] -> [..., K, ...]
Tensor index_select(const Tensor& x, const Tensor& ids, int dim);

}  // namespace attend
