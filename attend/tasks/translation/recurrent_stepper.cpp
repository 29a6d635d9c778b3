#include "attend/tasks/translation/recurrent_stepper.h"

#include <numeric>

#include "attend/ops/dropout.h"
#include "attend/ops/gather.h"
#include "attend/ops/tape.h"

namespace attend {

RecurrentStepper::RecurrentStepper(const RecurrentTranslator& model, const Tensor& ids, const Tensor& lengths)
    : model_(model), sentence_(static_cast<std::size_t>(ids.dim(0))) {
  const NoGrad no_grad;
  const Training no_training(false);
  source_ = read_ = model.encode(ids, lengths);
  state_ = source_.start;
  std::iota(sentence_.begin(), sentence_.end(), 0);
}

Tensor RecurrentStepper::step(const Tensor& words) {
  const NoGrad no_grad;
  const Training no_training(false);
  return model_.step(source_, words, state_);
}

void RecurrentStepper::look(const Tensor& words, Probe& probe) const {
  const NoGrad no_grad;
  const Training no_training(false);
  model_.decode(read_, words, &probe);
}

void RecurrentStepper::select(std::span<const std::int64_t> rows) {
  std::vector<std::int32_t> picked(rows.begin(), rows.end());
  const Tensor ids = Tensor::ids(picked, {static_cast<std::int64_t>(picked.size())});
  for (std::vector<Tensor>* states : {&state_.h, &state_.c})
    for (Tensor& state : *states) state = index_select(state, ids, 0);
  // The sources are large, and stay as they are as long as every row belongs to the sentence that it belonged to.
  std::vector<std::int64_t> sentence;
  for (const std::int64_t row : rows) sentence.push_back(sentence_[static_cast<std::size_t>(row)]);
  if (sentence == sentence_) return;
  sentence_ = std::move(sentence);
  std::vector<std::int32_t> lengths;
  for (const std::int64_t row : rows) lengths.push_back(source_.lengths.data<std::int32_t>()[row]);
  source_.lengths = Tensor::ids(lengths, {static_cast<std::int64_t>(lengths.size())});
  if (!source_.keys.defined()) return;
  const bool keys_are_states = source_.keys.shares_memory_with(source_.states);
  source_.states = index_select(source_.states, ids, 0);
  source_.keys = keys_are_states ? source_.states : index_select(source_.keys, ids, 0);
}

}  // namespace attend
