// The normalisation layer: layer normalisation or RMS normalisation.
#pragma once
#include "attend/ops/arithmetic.h"
#include "attend/ops/norm.h"

namespace attend {

enum class NormKind : std::uint8_t {
  layer_norm,  ///< (x - mean) / √(var + eps) · gain + bias
  rms_norm,    ///< x / √(mean(x²) + eps) · gain
};

struct NormOptions {
  NormKind kind = NormKind::layer_norm;
  float eps = 1e-5f;
  bool bias = true;          ///< ignored for rms_norm, which has no bias
  bool unit_offset = false;  ///< the gain is 1 + its parameter, as in Gemma
};

/// Normalises over the last dimension.   [..., D] -> [..., D]
struct Norm {
  Tensor gain;  // [D], named "weight" as in PyTorch
  Tensor bias;  // [D], or undefined
  float eps = 1e-5f;
  NormKind kind = NormKind::layer_norm;
  bool unit_offset = false;

  Norm() = default;
  explicit Norm(std::int64_t width, const NormOptions& options = {})
      : gain(Tensor::full({width}, options.unit_offset ? 0.f : 1.f)),
        eps(options.eps),
        kind(options.kind),
        unit_offset(options.unit_offset) {
    if (options.bias && kind == NormKind::layer_norm) bias = Tensor::zeros({width});
  }

  bool defined() const { return gain.defined(); }

  Tensor operator()(const Tensor& x) const {
    return kind == NormKind::rms_norm ? rms_norm(x, factor(), eps) : layer_norm(x, factor(), bias, eps);
  }
  /// The norm of x + residual, and the sum itself, in one pass over memory.
  AddNorm operator()(const Tensor& x, const Tensor& residual) const {
    return kind == NormKind::rms_norm ? add_rms_norm(x, residual, factor(), eps)
                                      : add_layer_norm(x, residual, factor(), bias, eps);
  }
  void visit(auto&& v) { v("weight", gain), v("bias", bias); }

 private:
  Tensor factor() const { return unit_offset ? gain + 1.f : gain; }
};

}  // namespace attend
