#include "attend/tasks/translation/source_stepper.h"

#include <vector>

namespace attend {

Tensor SourceStepper::step(const Tensor& words) {
  if (state_) return model_.step(words, *state_);
  const std::int64_t S = sources_.ids.dim(1);
  std::vector<GenerationInput> inputs;
  for (std::int64_t row = 0; row < sources_.ids.dim(0); ++row) {
    const auto length = static_cast<std::size_t>(sources_.lengths.data<std::int32_t>()[row]);
    inputs.push_back({.source = {sources_.ids.data<std::int32_t>() + row * S, length},
                      .prompt = {words.data<std::int32_t>() + row, 1}});
  }
  StartedGeneration started = model_.start(inputs);
  state_ = std::move(started.state);
  return started.logits;
}

}  // namespace attend
