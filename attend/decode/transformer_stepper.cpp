#include "attend/decode/transformer_stepper.h"

#include "attend/ops/dropout.h"
#include "attend/ops/tape.h"

namespace attend {

TransformerStepper::TransformerStepper(const Transformer& model, const Tensor& ids, const Tensor& lengths)
    : model_(model), lengths_(lengths) {
  const NoGrad no_grad;
  const Training no_training(false);
  states_ = model.encode(ids, lengths);
  state_ = model.start(states_, lengths);
}

std::vector<Tensor> TransformerStepper::cross_attention(const Tensor& words) const {
  const NoGrad no_grad;
  const Training no_training(false);
  Probe probe;
  model_.decode_states(states_, lengths_, words, &probe);
  std::vector<Tensor> layers;
  for (const Probe::Record& record : probe.records())
    if (record.layer.ends_with(".cross")) layers.push_back(record.weights);
  return layers;
}

}  // namespace attend
