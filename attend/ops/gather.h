// Rows picked by index.
#pragma once
#include "attend/core/tensor.h"

namespace attend {

/// For each sequence its own rows: y[b] = x[b, ids[b]], such as the last states of sequences of different lengths.
/// x [B, T, ...], ids int32 [B] -> [B, ...], or ids [B, K] -> [B, K, ...]
Tensor gather(const Tensor& x, const Tensor& ids);
/// The same rows everywhere: y[..., k, ...] = x[..., ids[k], ...].   x [..., N, ...], ids int32 [K] -> [..., K, ...]
Tensor index_select(const Tensor& x, const Tensor& ids, int dim);

}  // namespace attend
