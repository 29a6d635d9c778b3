// Compares the sizes in config.json with the weights, before a model of these sizes is allocated.
#pragma once
#include <cstdint>
#include <string_view>

#include "attend/formats/config.h"
#include "attend/formats/weights.h"

namespace attend {

/// Throws InputError, prefixed with `op`, if the weights have other layers than config.json says under `key`. The
/// tensors of layer i are named `layers` + "i.….weight", possibly after a prefix: "encoder.layer.".
void check_layers(const char* op, const Config& config, const Weights& weights, std::string_view layers,
                  std::string_view key, std::int64_t expected);

/// Throws InputError, prefixed with `op`, if the model needs far more parameters than the weights hold: over twice as
/// many, and 64 MB more. `least` is a lower bound of what it needs.
void check_parameters(const char* op, const Config& config, const Weights& weights, double least);

/// The weights of a Transformer block without biases: attention of `heads_width` (heads times their width), once or,
/// with cross-attention, twice, and a feed-forward network.
constexpr double block_parameters(std::int64_t width, std::int64_t heads_width, std::int64_t inner,
                                  int attentions = 1) {
  return static_cast<double>(width) *
         (4. * attentions * static_cast<double>(heads_width) + 2. * static_cast<double>(inner));
}

}  // namespace attend
