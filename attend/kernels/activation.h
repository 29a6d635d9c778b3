// Activation functions, fused with the addition of a bias, and in the backward pass with the gradient of the bias.
#pragma once
#include <cstdint>

namespace attend {

enum class Activation : std::uint8_t { none, relu, gelu, gelu_tanh, silu, tanh, sigmoid };

namespace kernels {

/// Whether the derivative is computed from the output y instead of the input. Then the input need not be kept.
constexpr bool derivative_from_output(Activation activation) {
  return activation == Activation::relu || activation == Activation::tanh || activation == Activation::sigmoid;
}

/// pre = x + bias; y = activation(pre).   x, pre, y [rows, cols], bias [cols]
/// bias may be null. pre may be null if it is not needed. x, pre and y may be the same memory.
void bias_activation(std::int64_t rows, std::int64_t cols, const float* x, const float* bias, Activation activation,
                     float* pre, float* y);

/// dx (+)= dy * activation'(saved), and dbias (+)= the column sums of dx.   dy, saved, dx [rows, cols], dbias [cols]
/// saved is y if derivative_from_output(activation), otherwise pre. It is not read for Activation::none. dx or dbias
/// may be null if it is not needed. dx may be the same memory as dy or saved.
struct ActivationGradient {
  float* dx = nullptr;
  float* dbias = nullptr;
  bool add_to_dx = false;
  bool add_to_dbias = false;
};
void bias_activation_backward(std::int64_t rows, std::int64_t cols, const float* dy, const float* saved,
                              Activation activation, const ActivationGradient& gradient);

}  // namespace kernels
}  // namespace attend
