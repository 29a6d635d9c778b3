// Products of matrices, and of batches of matrices.
#pragma once
#include "attend/core/tensor.h"

namespace attend {

struct MatmulOptions {
  bool transpose_a = false;  ///< a is stored as [..., K, M]
  bool transpose_b = false;  ///< b is stored as [..., N, K]
};

/// op(a) op(b).   a [..., M, K], b [..., K, N] with the same leading sizes, or one b [K, N] for all -> [..., M, N]
Tensor matmul(const Tensor& a, const Tensor& b, MatmulOptions options = {});

}  // namespace attend
