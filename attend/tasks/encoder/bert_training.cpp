#include "attend/tasks/encoder/bert_training.h"

#include "attend/core/error.h"
#include "attend/nn/module.h"
#include "attend/ops/tape.h"

namespace attend {

void freeze(Bert& model, std::int64_t layers) {
  if (layers > model.options.layers)
    fail<InputError>("finetune", "--freeze is ", layers, ", but the model has ", model.options.layers, " layers");
  std::vector<Tensor> seen;
  for_each_parameter(model, [&](const std::string& name, Tensor& tensor) {
    bool frozen = name.starts_with("bert.embeddings.");
    for (std::int64_t i = 0; i < layers; ++i)
      frozen |= name.starts_with("bert.encoder.layer." + std::to_string(i) + ".");
    if (frozen) set_trainable(tensor, false, seen);
  });
}

void set_dropout(Bert& model, float dropout) {
  BertOptions& o = model.options;
  o.dropout = o.attention_dropout = o.head_dropout = dropout;
  model.encoder.set_dropout(dropout, dropout);
}

}  // namespace attend
