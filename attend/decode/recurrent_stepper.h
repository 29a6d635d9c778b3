// A recurrent translator in the middle of its sentences.
#pragma once
#include "attend/decode/search.h"
#include "attend/models/recurrent_translator.h"

namespace attend {

class RecurrentStepper : public Stepper {
 public:
  /// Reads the sources: one row each. The model must outlive this.
  RecurrentStepper(const RecurrentTranslator& model, const Tensor& ids, const Tensor& lengths);

  Tensor step(const Tensor& words) override;
  void select(std::span<const std::int64_t> rows) override;

 private:
  const RecurrentTranslator& model_;
  EncodedSource source_;
  RecurrentState state_;
  std::vector<std::int64_t> sentence_;  // of each row: hypotheses of one sentence look at the same source
};

}  // namespace attend
