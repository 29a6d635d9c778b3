#include "attend/tasks/language_model/training.h"

#include <algorithm>

#include "attend/core/error.h"
#include "attend/core/wording.h"
#include "attend/data/text_stream.h"
#include "attend/models/registry.h"
#include "attend/tasks/language_model/language_model.h"
#include "attend/tasks/language_model/model_in_training.h"
#include "attend/tasks/language_model/training_task.h"
#include "attend/text/training/train_bpe.h"
#include "attend/text/training/train_words.h"
#include "attend/train/memory.h"
#include "attend/train/run.h"

namespace attend {
namespace {

using Options = LanguageModelTrainingOptions;
using Files = std::vector<std::filesystem::path>;

/// Learns characters or subwords from the texts.
Tokenizer learn_tokenizer(const Options& options, const TrainingObserver& observer) {
  for (const std::filesystem::path& file : options.train)
    if (is_token_store(file))
      fail<InputError>("train", "--tokenizer: name the folder of the tokenizer that made ", file.string());
  const LineSource lines = lines_of(options.train, observer.progress("Reading"));
  if (options.tokens == LearnedTokens::characters)
    return train_characters(lines, {.vocab_size = options.vocab_size,
                                    .append_eos = false,
                                    .special = {.unknown = "<unk>", .eos = "<|endoftext|>"}});
  return train_bpe(lines, {.vocab_size = options.vocab_size}, observer.progress("Merging", "tokens"));
}

/// The ids of some files, in a file of the output folder; or a store that was made before.
TokenStore tokenized(const Options& options, const Files& files, const Tokenizer& tokenizer, const char* name,
                     const TrainingObserver& observer) {
  for (const std::filesystem::path& file : files) {
    if (!is_token_store(file)) continue;
    if (files.size() > 1) fail<InputError>("train", file.string(), ": is a token store; those are used alone");
    TokenStore store(file);
    if (store.key().tokenizer != fingerprint(tokenizer))
      fail<InputError>("train", file.string(), ": its tokens are not those of the model's tokenizer");
    return store;
  }
  std::filesystem::create_directories(options.trainer.output);
  return tokenized_texts(files, tokenizer, options.trainer.output / name, {.document_end = options.document_end},
                         observer.progress("Tokenizing"))
      .store;
}

std::string sample(const Options& options, const CausalLm& model, const Tokenizer& tokenizer) {
  const LanguageModel writer(model, tokenizer);
  GenerateOptions how{.long_context = LongContext::slide};
  how.search.temperature = 0.8, how.search.top_k = 200, how.search.seed = options.trainer.seed;
  how.search.max_new_tokens = options.sample_tokens;
  return options.sample_prompt + writer(options.sample_prompt, how).text;
}

}  // namespace

Options Options::finetune(std::filesystem::path from) {
  Options options;
  options.from = std::move(from), options.context = 0, options.batch_tokens = 1024;
  options.trainer = {.epochs = 3, .learning_rate = 5e-5, .warmup = 50, .evaluate_every = 100};
  return options;
}

TrainingResult train_language_model(const Options& given_options, const TrainingObserver& observer) {
  Options options = given_options;
  if (options.train.empty()) fail<InputError>("train", "there is no text to learn from: got no file");
  Files files = options.train;
  std::ranges::copy(options.validation, std::back_inserter(files));
  const auto folder = check_run(options.trainer, options.from, files, observer);
  const Tokenizer tokenizer = !options.from.empty()        ? ModelFolder(options.from).tokenizer()
                              : !options.tokenizer.empty() ? load_tokenizer(options.tokenizer)
                                                           : learn_tokenizer(options, observer);
  ModelInTraining run(ModelInTrainingOptions::of(options), tokenizer);
  CausalLm& model = run.model;
  const TokenStore store = tokenized(options, options.train, tokenizer, "train.tokens", observer);
  StoredText training{store, {0, store.size()}};
  std::optional<StoredText> validation;
  if (!options.validation.empty()) {
    const TokenStore held_out = tokenized(options, options.validation, tokenizer, "validation.tokens", observer);
    validation = StoredText{held_out, {0, held_out.size()}};
  } else if (options.validation_share > 0) {
    std::tie(training, validation) = hold_back(store, options.validation_share);
  }
  if (options.context == 0)  // all that the model sees, or a shorter text
    options.context = std::clamp<std::int64_t>(training.range.size() - 1, 1, model.options.positions);
  const std::int64_t batch = std::max<std::int64_t>(options.batch_tokens / options.context, 1);
  observer.info(counted(training.range.size(), "token") + ", " + grouped(validation ? validation->range.size() : 0) +
                " for validation, " + grouped(tokenizer.size()) + " different, " +
                parameters_to_train(run.trained, count_parameters(model), options.lora.on()) + ", " +
                counted(batch, "window") + " of " + grouped(options.context) + " in a batch");
  LanguageModelTrainingTask task({.parameters = run.trained,
                                  .logits = [&](const Tensor& ids) { return model(ids); },
                                  .save = [&](const std::filesystem::path& to) { run.save(tokenizer, to); }},
                                 training, validation,
                                 {.batch = batch,
                                  .context = options.context,
                                  .seed = options.trainer.seed,
                                  .validation_tokens = options.validation_tokens});
  TrainerOptions trainer = options.trainer;
  trainer.folder = folder;
  trainer.activation_bytes = activation_bytes(model, batch * options.context,
                                              static_cast<double>(model.options.vocabulary), trainer.recompute);
  trainer.fingerprint = run_fingerprint(
      options,
      {.model = model.config().dump(), .tokenizer = fingerprint(tokenizer), .files = files, .from = options.from});
  TrainingObserver with_samples = observer;
  with_samples.evaluated = [&](const TrainingState& state) {
    if (observer.evaluated) observer.evaluated(state);
    if (observer.sampled && options.sample_tokens > 0) observer.sampled(sample(options, model, tokenizer));
  };
  return train(task, trainer, with_samples);
}

}  // namespace attend
