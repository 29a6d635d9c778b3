// A Transformer in the middle of its sentences.
#pragma once
#include "attend/decode/search.h"
#include "attend/models/transformer.h"

namespace attend {

class TransformerStepper : public Stepper {
 public:
  /// Reads the sources, int32 [B, S] with lengths [B]: one row each. The model must outlive this.
  TransformerStepper(const Transformer& model, const Tensor& ids, const Tensor& lengths);

  Tensor step(const Tensor& words) override { return model_.step(words, state_); }
  void select(std::span<const std::int64_t> rows) override { state_.select(rows); }

 private:
  const Transformer& model_;
  DecodingState state_;
};

}  // namespace attend
