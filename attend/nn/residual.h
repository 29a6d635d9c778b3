// What surrounds a sub-layer of a Transformer.
#pragma once
#include "attend/nn/layer_norm.h"
#include "attend/ops/arithmetic.h"
#include "attend/ops/dropout.h"

namespace attend {

/// norm(x + dropout(f(x))), or with pre_norm x + dropout(f(norm(x))).
struct Residual {
  LayerNorm norm;
  bool pre_norm = false;
  float dropout = 0.f;

  Tensor operator()(const Tensor& x, auto&& f) const {
    if (pre_norm) return x + attend::dropout(f(norm(x)), dropout);
    return norm(attend::dropout(f(x), dropout), x).normed;
  }
  void visit(auto&& v) { v("", norm); }
};

}  // namespace attend
