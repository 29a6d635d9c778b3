// A recurrent translator in the middle of its sentences.
#pragma once
#include "attend/tasks/translation/source_stepper.h"
#include "attend/models/recurrent_translator.h"

namespace attend {

class RecurrentStepper : public SourceStepper {
 public:
  /// Reads the sources: one row each. The model must outlive this.
  RecurrentStepper(const RecurrentTranslator& model, const Tensor& ids, const Tensor& lengths);

  Tensor step(const Tensor& words) override;
  void select(std::span<const std::int64_t> rows) override;
  void look(const Tensor& words, Probe& probe) const override;
  void look_at_sources(Probe& /*probe*/) const override {}

 private:
  const RecurrentTranslator& model_;
  EncodedSource read_;    // the sources
  EncodedSource source_;  // of each row
  RecurrentState state_;
  std::vector<std::int64_t> sentence_;  // of each row: hypotheses of one sentence look at the same source
};

}  // namespace attend
