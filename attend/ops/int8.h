// Matrices quantised to int8. Linear maps have the gradient of x, so that a model with int8 weights can train adapters;
// the matrices themselves have none.
#pragma once
#include <span>

#include "attend/core/tensor.h"
#include "attend/kernels/activation.h"

namespace attend {

/// A quantised matrix: row i is scales[i] · values[i].   values int8 [N, K], scales float32 [N]
struct Int8Matrix {
  Tensor values, scales;

  Int8Matrix view_rows(std::int64_t begin, std::int64_t end) const {
    return {values.view_rows(begin, end), scales.view_rows(begin, end)};
  }
};

/// Quantises a matrix [N, K]. Each row is scaled such that its largest absolute value becomes 127, and then rounded.
Int8Matrix quantise(const Tensor& weight);
/// Converts a quantised matrix back to float32.
Tensor restore(const Int8Matrix& matrix);

/// linear() with a quantised weight (see linear.h).
Tensor linear(const Tensor& x, const Int8Matrix& weight, const Tensor& bias = {},
              Activation activation = Activation::none);
/// linear_together() with quantised weights (see linear.h).
Tensor linear_together(const Tensor& x, std::span<const Int8Matrix> weights, std::span<const Tensor> biases = {});
/// embedding() with a quantised table (see embedding.h).
Tensor embedding(const Int8Matrix& table, const Tensor& ids, float scale = 1.f);

}  // namespace attend
