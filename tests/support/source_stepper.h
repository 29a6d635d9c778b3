// Runs an encoder–decoder step by step from given sources, without a search.
#pragma once
#include <memory>
#include <vector>

#include "attend/data/batches.h"
#include "attend/models/seq2seq_model.h"

namespace attend::test {

/// The rows of a padded batch without padding.
inline std::vector<std::vector<std::int32_t>> sources_of(const TokenBatch& batch) {
  std::vector<std::vector<std::int32_t>> sources;
  for (std::int64_t row = 0; row < batch.ids.dim(0); ++row) {
    const std::int32_t* first = batch.ids.data<std::int32_t>() + row * batch.ids.dim(1);
    sources.emplace_back(first, first + batch.lengths.data<std::int32_t>()[row]);
  }
  return sources;
}

class SourceStepper {
 public:
  /// batch: sources int32 [B, S] with lengths [B]. The model must outlive this object.
  SourceStepper(const Seq2SeqModel& model, const TokenBatch& batch)
      : model_(model), batch_(batch), sources_(sources_of(batch)) {}

  /// int32 [N] -> logits [N, V]
  Tensor step(const Tensor& ids) {
    if (state_) return model_.step(ids, *state_);
    std::vector<GenerationInput> inputs;
    for (std::size_t row = 0; row < sources_.size(); ++row)
      inputs.push_back({.source = sources_[row], .prompt = {ids.data<std::int32_t>() + row, 1}});
    StartedGeneration started = model_.start(inputs);
    state_ = std::move(started.state);
    return started.logits;
  }
  void select(std::span<const std::int64_t> rows) {
    if (state_) return state_->select(rows);
    std::vector<std::vector<std::int32_t>> selected;
    for (const std::int64_t row : rows) selected.push_back(sources_[static_cast<std::size_t>(row)]);
    sources_ = std::move(selected);
  }
  /// Records the attention of a teacher-forcing pass over ids int32 [B, T].
  void record_attention(const Tensor& ids, Probe& probe) const {
    model_.record_attention(batch_.ids, batch_.lengths, ids, probe);
  }

 private:
  const Seq2SeqModel& model_;
  TokenBatch batch_;
  std::vector<std::vector<std::int32_t>> sources_;
  std::unique_ptr<GenerationState> state_;  // null before the first step
};

}  // namespace attend::test
