// The position-wise feed-forward network.
#pragma once
#include "attend/nn/linear.h"
#include "attend/ops/dropout.h"

namespace attend {

/// FFN(x) = down(dropout(act(up(x)))), applied to each position alone (Vaswani et al. 2017, section 3.3).
struct FeedForward {
  Linear up, down;
  Activation activation = Activation::relu;
  float dropout = 0.f;

  FeedForward() = default;
  FeedForward(std::int64_t width, std::int64_t inner, Activation act = Activation::relu, float p = 0.f,
              Generator& generator = default_generator())
      : up(width, inner, true, generator), down(inner, width, true, generator), activation(act), dropout(p) {}

  Tensor operator()(const Tensor& x) const { return down(attend::dropout(up(x, activation), dropout)); }
  void visit(auto&& v) { v("up", up), v("down", down); }
};

}  // namespace attend
