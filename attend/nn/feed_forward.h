// The position-wise feed-forward network, plain or gated.
#pragma once
#include "attend/nn/linear.h"

namespace attend {

struct FeedForwardOptions {
  std::int64_t width = 0;  ///< size of input and output
  std::int64_t inner = 0;  ///< size of the hidden layer
  Activation activation = Activation::relu;
  bool gated = false;   ///< activation(gate(x)) · up(x) instead of activation(up(x))
  bool bias = true;     ///< in all layers
  float dropout = 0.f;  ///< before the last layer
};

/// down(dropout(act(up(x)))) for each position independently (Vaswani et al. 2017, section 3.3), or gated:
/// down(dropout(act(gate(x)) · up(x))) (Shazeer 2020, eq. 6).
struct FeedForward {
  Linear gate, up, down;  // gate is undefined unless options.gated
  Activation activation = Activation::relu;
  float dropout = 0.f;

  FeedForward() = default;
  explicit FeedForward(const FeedForwardOptions& options, Generator& generator = default_generator());

  /// [..., width] -> [..., width]
  Tensor operator()(const Tensor& x) const;
  void visit(auto&& v) { v("gate", gate), v("up", up), v("down", down); }
};

/// Makes the weights of gate and up contiguous in memory, so that they are computed as one matrix product. The
/// constructor calls this. Call it again after the weights have been replaced, for example by loading them.
void place_neighbours(FeedForward& network);

}  // namespace attend
