// Activations over memory, fused with the bias before them and with the bias's gradient after them. Blocks of rows can
// be given one after the other, while a matrix product has them in cache.
#pragma once
#include <cstdint>

namespace attend {

enum class Activation : std::uint8_t { none, relu, gelu, gelu_tanh, silu, tanh, sigmoid };

namespace kernels {

/// Whether the derivative is taken from the output y (cheaper, and the input need not be kept) or from the input.
constexpr bool derivative_from_output(Activation activation) {
  return activation == Activation::relu || activation == Activation::tanh || activation == Activation::sigmoid;
}

/// pre = x + bias; y = activation(pre).   x, pre, y [rows, cols], bias [cols]
/// bias may be null: none. pre may be null: not kept. x, pre and y may be the same memory.
void bias_activation(std::int64_t rows, std::int64_t cols, const float* x, const float* bias, Activation activation,
                     float* pre, float* y);

/// dx = dy * activation'(saved), and dbias = the sums of dx's columns; both are added to what is there if their flag
/// says so.   dy, saved, dx [rows, cols], dbias [cols] saved is y or pre: derivative_from_output tells. It is not read
/// for Activation::none. dx may be null when only dbias is wanted, dbias when only dx is. dx may be dy's or saved's
/// memory.
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
