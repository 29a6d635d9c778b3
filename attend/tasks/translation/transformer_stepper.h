// A Transformer in the middle of its sentences.
#pragma once
#include "attend/tasks/translation/source_stepper.h"
#include "attend/models/transformer.h"

namespace attend {

class TransformerStepper : public SourceStepper {
 public:
  /// Reads the sources, int32 [B, S] with lengths [B]: one row each. The model must outlive this.
  TransformerStepper(const Transformer& model, const Tensor& ids, const Tensor& lengths);

  Tensor step(const Tensor& words) override { return model_.step(words, state_); }
  void select(std::span<const std::int64_t> rows) override { state_.select(rows); }
  void look(const Tensor& words, Probe& probe) const override;
  void look_at_sources(Probe& probe) const override;

 private:
  const Transformer& model_;
  Tensor ids_, lengths_, states_;  // of the sources, as they were read
  DecodingState state_;
};

}  // namespace attend
