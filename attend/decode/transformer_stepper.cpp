#include "attend/decode/transformer_stepper.h"

#include "attend/ops/tape.h"

namespace attend {

TransformerStepper::TransformerStepper(const Transformer& model, const Tensor& ids, const Tensor& lengths)
    : model_(model) {
  const NoGrad no_grad;
  state_ = model.start(model.encode(ids, lengths), lengths);
}

}  // namespace attend
