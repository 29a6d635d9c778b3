// Matrices in a byte a weight, for models that are only run: there are no gradients.
#pragma once
#include <span>

#include "attend/core/tensor.h"
#include "attend/kernels/activation.h"

namespace attend {

/// Row i stands for scales[i] · values[i].   int8 [N, K], float32 [N]
struct Int8Matrix {
  Tensor values, scales;

  Int8Matrix view_rows(std::int64_t begin, std::int64_t end) const {
    return {values.view_rows(begin, end), scales.view_rows(begin, end)};
  }
};

/// The nearest that there is, row by row: the greatest weight of a row becomes ±127.   [N, K]
Int8Matrix quantise(const Tensor& weight);
/// As floats again.
Tensor restore(const Int8Matrix& matrix);

/// As the ops of these names with floats (linear.h, embedding.h), but the weights are rounded.
Tensor linear(const Tensor& x, const Int8Matrix& weight, const Tensor& bias = {},
              Activation activation = Activation::none);
/// As linear_together with floats: one product where the parts lie together in memory.
Tensor linear_together(const Tensor& x, std::span<const Int8Matrix> weights, std::span<const Tensor> biases = {});
Tensor embedding(const Int8Matrix& table, const Tensor& ids, float scale = 1.f);

}  // namespace attend
