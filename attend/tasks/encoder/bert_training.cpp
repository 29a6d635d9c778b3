#include "attend/tasks/encoder/bert_training.h"

#include <algorithm>
#include <functional>
#include <set>

#include "attend/core/error.h"
#include "attend/nn/module.h"
#include "attend/ops/tape.h"

namespace attend {
namespace {

/// Excludes the embeddings and the first layers from training.
void freeze(Bert& model, std::int64_t layers) {
  if (layers > model.options.layers)
    fail<InputError>("finetune", "--freeze is ", layers, ", but the model has ", model.options.layers, " layers");
  if (model.encoder.repeats > 1)
    fail<InputError>("finetune", "--freeze is ", layers, ", but the layers of this model share their weights");
  std::vector<std::string> frozen = {"bert.embeddings.", "bert.embeddings_project."};
  for (std::int64_t i = 0; i < layers; ++i) frozen.push_back("bert.encoder.layer." + std::to_string(i) + ".");
  std::vector<Tensor> seen;
  // Not a plain lambda: with all of it inlined, GCC 12 warns of an overflow that cannot happen.
  const std::function<void(const std::string&, Tensor&)> take = [&](const std::string& name, Tensor& tensor) {
    if (std::ranges::any_of(frozen, [&](const std::string& prefix) { return name.starts_with(prefix); }))
      set_trainable(tensor, false, seen);
  };
  for_each_parameter(model, take);
}

void set_dropout(Bert& model, float dropout) {
  BertOptions& o = model.options;
  o.dropout = o.attention_dropout = o.head_dropout = dropout;
  model.encoder.set_dropout(dropout, dropout);
  if (!o.modern) return;
  o.activation_dropout = dropout;
  for (TransformerBlock& block : model.encoder.blocks)
    block.feed_forward_dropout = 0.f, block.feed_forward.dropout = dropout;
}

}  // namespace

std::vector<NamedTensor> prepare_fine_tuning(Bert& model, const BertTraining& training) {
  if (training.dropout) set_dropout(model, *training.dropout);
  if (training.adapter.lora.on()) {
    if (training.frozen_layers > 0)
      fail<InputError>("finetune", "--freeze cannot be combined with --lora, which freezes all layers");
    Generator generator(training.seed);
    return train_adapters(model, training.adapter, generator);
  }
  train_parameters(model);
  if (training.frozen_layers > 0) freeze(model, training.frozen_layers);
  std::vector<NamedTensor> trained;
  for (const NamedTensor& parameter : parameters(model))
    if (requires_grad(parameter.tensor)) trained.push_back(parameter);
  return trained;
}

std::vector<std::string> head_modules(Bert& model, const std::vector<std::string>& initialised) {
  std::set<std::string> modules;
  const auto add = [&](const std::string& name) { modules.insert(name.substr(0, name.rfind('.'))); };
  for_each_parameter(model, [&](const std::string& name, Tensor&) {
    if (!name.starts_with("bert.")) add(model.stored_name(name));
  });
  for (const std::string& name : initialised) add(name);
  return {modules.begin(), modules.end()};
}

}  // namespace attend
