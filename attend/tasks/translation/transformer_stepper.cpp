#include "attend/tasks/translation/transformer_stepper.h"

#include "attend/ops/dropout.h"
#include "attend/ops/tape.h"

namespace attend {

TransformerStepper::TransformerStepper(const Transformer& model, const Tensor& ids, const Tensor& lengths)
    : model_(model), ids_(ids), lengths_(lengths) {
  const NoGrad no_grad;
  const Training no_training(false);
  states_ = model.encode(ids, lengths);
  state_ = model.start(states_, lengths);
}

void TransformerStepper::look(const Tensor& words, Probe& probe) const {
  const NoGrad no_grad;
  const Training no_training(false);
  model_.decode_states(states_, lengths_, words, &probe);
}

void TransformerStepper::look_at_sources(Probe& probe) const {
  const NoGrad no_grad;
  const Training no_training(false);
  model_.encode(ids_, lengths_, &probe);
}

}  // namespace attend
