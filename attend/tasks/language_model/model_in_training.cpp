#include "attend/tasks/language_model/model_in_training.h"

#include "attend/core/error.h"
#include "attend/core/folder.h"
#include "attend/models/registry.h"
#include "attend/text/chat_template.h"

namespace attend {
namespace {

using RunOptions = ModelInTrainingOptions;

CausalLm new_model(const RunOptions& options, const Tokenizer& tokenizer) {
  CausalLmOptions o = options.model;
  o.vocabulary = tokenizer.size(), o.positions = options.context;
  if (options.dropout) o.dropout = o.embedding_dropout = o.attention_dropout = *options.dropout;
  if (o.gated && o.inner == 0) o.inner = (8 * o.width / 3 + 31) / 32 * 32;  // as many weights as without the gate
  o.ends = {tokenizer.special().eos.value_or(0)}, o.start = tokenizer.special().bos.value_or(o.end());
  Generator generator(options.seed);
  return CausalLm(o, generator);
}

CausalLm folder_model(const RunOptions& options, const Tokenizer& tokenizer) {
  // With adapters, the model shares the weights that are mapped for use.
  CausalLm model = options.lora.on() ? *ModelFolder(options.from).model<CausalLm>("finetune", Ability::generate)
                                     : load_causal_lm(options.from);
  CausalLmOptions& o = model.options;
  if (tokenizer.size() > o.vocabulary)
    fail<InputError>("finetune", options.from.string(), ": its tokenizer has ", tokenizer.size(), " tokens, its model ",
                     o.vocabulary);
  if (options.context > o.positions)
    fail<InputError>("finetune", "--context is ", options.context, ", but the model sees ", o.positions,
                     " tokens at most");
  if (options.dropout) {
    o.dropout = o.embedding_dropout = o.attention_dropout = *options.dropout;
    model.decoder.set_dropout(*options.dropout, *options.dropout);
  }
  return model;
}

/// Where texts begin and end; or the file of the folder that the model comes from.
void save_generation(const std::filesystem::path& from, const CausalLmOptions& o, const std::filesystem::path& folder) {
  const std::filesystem::path old = current_folder(from) / "generation_config.json";
  if (!from.empty() && std::filesystem::exists(old)) {
    std::filesystem::copy_file(old, folder / "generation_config.json",
                               std::filesystem::copy_options::overwrite_existing);
    return;
  }
  Config config;
  config.set("bos_token_id", std::int64_t{o.start}), config.set("eos_token_id", std::int64_t{o.end()});
  config.save(folder / "generation_config.json");
}

}  // namespace

ModelInTraining::ModelInTraining(const ModelInTrainingOptions& options, const Tokenizer& tokenizer)
    : model(options.from.empty() ? new_model(options, tokenizer) : folder_model(options, tokenizer)),
      from_(options.from),
      adapter_(AdapterInfo::of(options.lora, options.from, "CAUSAL_LM")) {
  if (options.lora.on()) {
    Generator generator(options.seed);
    trained = train_adapters(model, adapter_, generator);
  } else {
    train_parameters(model);
    trained = parameters(model);
  }
}

void ModelInTraining::save(const Tokenizer& tokenizer, const std::filesystem::path& folder) {
  if (adapter_.lora.on()) return save_adapter(model, adapter_, folder);
  save_model(model, tokenizer, folder);
  save_generation(from_, model.options, folder);
  if (from_.empty()) return;
  if (const auto chat = ChatTemplate::of_folder(from_)) chat->save(folder);
}

}  // namespace attend
