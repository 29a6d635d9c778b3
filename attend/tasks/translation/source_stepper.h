// An encoder–decoder that has read its sources: it goes on token by token, and can show its attention.
#pragma once
#include <memory>
#include <vector>

#include "attend/data/batches.h"
#include "attend/decode/search.h"
#include "attend/models/seq2seq_model.h"

namespace attend {

class SourceStepper : public Stepper {
 public:
  /// Sources, int32 [B, S] with lengths [B]: one row each. The model must outlive this.
  SourceStepper(const Seq2SeqModel& model, TokenBatch sources);

  Tensor step(const Tensor& words) override;
  void select(std::span<const std::int64_t> rows) override;
  /// The attention of a pass over these tokens, int32 [B, T]. The sources are those that were read, whatever was
  /// selected since. See Seq2SeqModel::record_attention.
  void look(const Tensor& words, Probe& probe) const {
    model_.record_attention(sources_.ids, sources_.lengths, words, probe);
  }

 private:
  const Seq2SeqModel& model_;
  TokenBatch sources_;
  std::vector<std::int64_t> rows_;          // before the first step: the source of each row
  std::unique_ptr<GenerationState> state_;  // from the first step on
};

}  // namespace attend
