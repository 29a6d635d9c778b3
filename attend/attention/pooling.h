// Attention pooling: values averaged by how well their keys answer a query.
#pragma once
#include "attend/attention/probe.h"
#include "attend/attention/scores.h"
#include "attend/ops/mask.h"

namespace attend {

struct PoolingOptions {
  Mask mask = {};          ///< who may see whom
  float dropout = 0.f;     ///< of the weights, in training
  Probe* probe = nullptr;  ///< collects the weights
};

/// softmax(score(q, k) + mask) v.   q [B, T, Dq], k [B, S, Dk], v [B, S, Dv] -> [B, T, Dv]
/// A query that may see nothing gets zeros. Dot, scaled dot and general run in the fused kernel, without a [T, S]
/// matrix.
Tensor pool(const Score& score, const Tensor& q, const Tensor& k, const Tensor& v, const PoolingOptions& options = {});

/// The same with keys that score.keys(k) has prepared.
Tensor pool_prepared(const Score& score, const Tensor& q, const Tensor& keys, const Tensor& v,
                     const PoolingOptions& options = {});

/// Nadaraya–Watson regression: f(x) = Σ_i softmax_i(-½ ((x - x_i) w)²) y_i, pooling with the Gaussian score.
/// queries [T] or [T, D], keys [S] or [S, D], values [S] -> [T]. A learned width is a Gaussian whose inverse_width is a
/// leaf; Uniform gives the plain average.
Tensor nadaraya_watson(const Score& kernel, const Tensor& queries, const Tensor& keys, const Tensor& values,
                       const PoolingOptions& options = {});

}  // namespace attend
