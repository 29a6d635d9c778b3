// Attention pooling: an average of values, weighted by how well their keys match a query.
#pragma once
#include "attend/attention/probe.h"
#include "attend/attention/scores.h"
#include "attend/ops/mask.h"

namespace attend {

struct PoolingOptions {
  Mask mask = {};          ///< which keys each query may attend to
  float dropout = 0.f;     ///< on the attention weights, in training
  Probe* probe = nullptr;  ///< records the attention weights
};

/// softmax(score(q, k) + mask) v.   q [B, T, Dq], k [B, S, Dk], v [B, S, Dv] -> [B, T, Dv]
/// The result is zero for a query whose keys are all masked. Dot, ScaledDot and General use the fused kernel, which
/// does not allocate the [T, S] matrix of weights.
Tensor pool(const Score& score, const Tensor& q, const Tensor& k, const Tensor& v, const PoolingOptions& options = {});

/// Like pool(), for keys that were already transformed by score.keys(k).
Tensor pool_prepared(const Score& score, const Tensor& q, const Tensor& keys, const Tensor& v,
                     const PoolingOptions& options = {});

/// Nadaraya–Watson regression: f(x) = Σ_i softmax_i(-½ ((x - x_i) w)²) y_i, which is pooling with the Gaussian score.
/// queries [T] or [T, D], keys [S] or [S, D], values [S] -> [T]. To learn the kernel's width, make
/// Gaussian::inverse_width a leaf of the tape. With the Uniform score, the result is the mean of the values.
Tensor nadaraya_watson(const Score& kernel, const Tensor& queries, const Tensor& keys, const Tensor& values,
                       const PoolingOptions& options = {});

}  // namespace attend
