#include "attend/tasks/translation/source_stepper.h"

#include <numeric>

namespace attend {

SourceStepper::SourceStepper(const Seq2SeqModel& model, TokenBatch sources)
    : model_(model), sources_(std::move(sources)), rows_(static_cast<std::size_t>(sources_.ids.dim(0))) {
  std::iota(rows_.begin(), rows_.end(), std::int64_t{0});
}

Tensor SourceStepper::step(const Tensor& words) {
  if (state_) return model_.step(words, *state_);
  const std::int64_t S = sources_.ids.dim(1);
  std::vector<GenerationInput> inputs;
  for (std::size_t i = 0; i < rows_.size(); ++i) {
    const auto length = static_cast<std::size_t>(sources_.lengths.data<std::int32_t>()[rows_[i]]);
    inputs.push_back({.source = {sources_.ids.data<std::int32_t>() + rows_[i] * S, length},
                      .prompt = {words.data<std::int32_t>() + i, 1}});
  }
  StartedGeneration started = model_.start(inputs);
  state_ = std::move(started.state);
  return started.logits;
}

void SourceStepper::select(std::span<const std::int64_t> rows) {
  if (state_) return state_->select(rows);
  std::vector<std::int64_t> chosen;
  for (const std::int64_t row : rows) chosen.push_back(rows_[static_cast<std::size_t>(row)]);
  rows_ = std::move(chosen);
}

}  // namespace attend
