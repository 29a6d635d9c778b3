// The names of activations in Hugging Face's config.json.
#pragma once
#include <string>
#include <utility>
#include <vector>

#include "attend/kernels/activation.h"

namespace attend {

/// If an activation has several names, the first is written.
inline const std::vector<std::pair<std::string, Activation>> kActivationNames = {
    {"relu", Activation::relu}, {"gelu", Activation::gelu},          {"swish", Activation::silu},
    {"silu", Activation::silu}, {"gelu_new", Activation::gelu_tanh}, {"gelu_pytorch_tanh", Activation::gelu_tanh},
    {"tanh", Activation::tanh}, {"sigmoid", Activation::sigmoid}};

}  // namespace attend
