#include "attend/tasks/dialogue/training.h"

#include <algorithm>
#include <memory>
#include <nlohmann/json.hpp>

#include "attend/core/error.h"
#include "attend/core/wording.h"
#include "attend/data/fingerprint.h"
#include "attend/data/tokenized_texts.h"
#include "attend/models/registry.h"
#include "attend/ops/embedding.h"
#include "attend/tasks/dialogue/encode_dialogue.h"
#include "attend/tasks/language_model/model_in_training.h"
#include "attend/text/training/train_bpe.h"
#include "attend/train/memory.h"
#include "attend/train/run.h"

namespace attend {
namespace {

namespace fs = std::filesystem;
using Options = DialogueTrainingOptions;
using Files = std::vector<fs::path>;

/// Reads the dialogues of several files.
std::function<bool(Dialogue&)> dialogues_of(const Files& files, const DialogueFormat& format, const DialoguePart& part,
                                            const Progress& progress) {
  auto reader = std::make_shared<std::optional<DialogueReader>>();
  return [=, next = std::size_t{0}](Dialogue& dialogue) mutable {
    for (;;) {
      if (*reader && (*reader)->next(dialogue)) return true;
      if (next == files.size()) return false;
      reader->emplace(files[next++], format, part, progress);
    }
  };
}

/// Learns subwords from the messages of the training dialogues.
Tokenizer learn_tokenizer(const Options& options, const DialoguePart& part, const TrainingObserver& observer) {
  DialogueFormat once = options.format;
  once.both_speakers = false;
  const auto next = dialogues_of(options.train, once, part, observer.progress("Reading"));
  std::vector<std::string> texts;
  const auto add = [&](const nlohmann::json& content) {
    if (content.is_string()) texts.push_back(content.get<std::string>());
  };
  SpecialTexts special{.padding = "<|endoftext|>", .unknown = "<|endoftext|>", .eos = kEndOfMessage};
  special.more = kDialogueTokens;
  return train_bpe(
      [&, dialogue = Dialogue()](std::string& line) mutable {
        while (texts.empty()) {
          if (!next(dialogue)) return false;
          for (const nlohmann::json& message : nlohmann::json::parse(dialogue.messages))
            if (const auto content = message.find("content"); content != message.end()) {
              add(*content);
              if (content->is_array())
                for (const nlohmann::json& piece : *content) add(piece.value("text", nlohmann::json()));
            }
        }
        line = std::move(texts.back());
        texts.pop_back();
        return true;
      },
      {.vocab_size = options.vocab_size, .special = special}, observer.progress("Merging", "tokens"));
}

/// The examples of some files, in a file of the output folder.
struct DialogueStore {
  const Options& options;
  const Tokenizer& tokenizer;
  const ChatTemplate& chat;
  std::int64_t context;

  ExampleStore operator()(const Files& files, const DialogueFormat& format, const DialoguePart& part, const char* name,
                          const TrainingObserver& observer) const {
    Fingerprint sources;
    for (const fs::path& file : files) sources.add_file(file);
    OptionFingerprint add(sources);
    add("format", format), add("held_out", part.held_out), add("training", part.training), add("context", context);
    sources.add(chat.source()).add(chat.source(true)).add(options.template_args);
    fs::create_directories(options.trainer.output);
    return stored_examples<Dialogue>(
        {options.trainer.output / name,
         kDialogueFields,
         std::max(tokenizer.size(), context + 1),
         {sources.value(), fingerprint(tokenizer)}},
        [&] { return dialogues_of(files, format, part, observer.progress("Tokenizing")); },
        [&](const Dialogue& dialogue) {
          std::vector<EncodedExample> encoded;
          for (ChatExample& one : encode_dialogue(chat, tokenizer, dialogue, context, options.template_args)) {
            EncodedExample& example = encoded.emplace_back();
            example.fields.resize(kDialogueFields);
            example.fields[kDialogueField] = std::move(one.ids);
            for (const Span& reply : one.replies)
              for (const std::int64_t place : {reply.begin, reply.end})
                example.fields[kReplyField].push_back(static_cast<std::int32_t>(place));
            if (one.cut) example.fields[kCutDialogueField].push_back(0);
          }
          if (encoded.empty()) encoded.emplace_back();  // left out
          return encoded;
        });
  }
};

void warn_of_dialogues(const ExampleStore& training, const ExampleStore& validation, std::int64_t context,
                       const TrainingObserver& observer) {
  std::int64_t cut = 0;
  for (const ExampleStore* store : {&training, &validation})
    if (store->size() > 0)
      for (const std::int32_t one : store->lengths(kCutDialogueField)) cut += one;
  if (cut > 0)
    observer.warn("cut: " + counted(cut, "dialogue") + " longer than " + grouped(context) +
                  " tokens (--context); the beginning is left out");
  if (const std::int64_t left_out = training.left_out() + validation.left_out(); left_out > 0)
    observer.warn("left out: " + counted(left_out, "dialogue") + " without a reply to learn");
}

std::int64_t count_targets(const ExampleStore& store, LossOn loss_on) {
  std::int64_t count = 0;
  for (std::int64_t i = 0; i < store.size(); ++i)
    count += dialogue_batch(store, std::span(&i, 1), loss_on).targets.numel();
  return count;
}

}  // namespace

CausalLmOptions Options::new_model() {
  CausalLmOptions o = CausalLmOptions::of(kLlama);
  o.width = 256, o.layers = 4, o.heads = 8, o.tied_output = true;
  return o;
}

Options Options::finetune(fs::path from) {
  Options options;
  options.from = std::move(from), options.context = 0, options.batch_tokens = 1024;
  options.trainer = {.epochs = 3, .learning_rate = 5e-5, .warmup = 50};
  return options;
}

TrainingResult train_dialogues(const Options& options, const TrainingObserver& observer) {
  if (options.train.empty()) fail<InputError>("train", "there are no dialogues to learn from: got no file");
  Files files = options.train;
  std::ranges::copy(options.validation, std::back_inserter(files));
  files.push_back(options.template_file);
  const auto folder = check_run(options.trainer, options.from, files, observer);
  const DialoguePart training_part{options.validation.empty() ? options.validation_share : 0, true};
  const bool is_new = options.from.empty();
  const Tokenizer tokenizer =
      is_new ? learn_tokenizer(options, training_part, observer) : ModelFolder(options.from).tokenizer();
  const ChatTemplate chat =
      is_new ? new_dialogue_template() : dialogue_template(ModelFolder(options.from), options.template_file);
  ModelInTraining run(ModelInTrainingOptions::of(options), tokenizer);
  CausalLm& model = run.model;
  const DialogueStore stored{options, tokenizer, chat, options.context > 0 ? options.context : model.options.positions};
  const ExampleStore training = stored(options.train, options.format, training_part, "train.tokens", observer);
  DialogueFormat once = options.format;
  once.both_speakers = false;
  ExampleStore validation;
  if (!options.validation.empty())
    validation = stored(options.validation, once, {0, true}, "validation.tokens", observer);
  else if (options.validation_share > 0)
    validation = stored(options.train, once, {options.validation_share, false}, "validation.tokens", observer);
  warn_of_dialogues(training, validation, stored.context, observer);
  if (training.size() == 0) fail<InputError>("train", options.train.front().string(), ": no dialogue has a reply");
  observer.info(counted(training.size(), "dialogue") + ", " + grouped(validation.size()) + " for validation, " +
                grouped(count_targets(training, options.loss_on)) + " of " +
                counted(count_targets(training, LossOn::all), "token") + " to learn, " + grouped(tokenizer.size()) +
                " different, " + parameters_to_train(run.trained, count_parameters(model), options.lora.on()));

  DialogueTrainingTask task(
      {.parameters = run.trained,
       .logits =
           [&](const Tensor& ids, const Tensor& places) {
             const Tensor states = model.states(ids);
             return model.logits(embedding(states.reshape({ids.numel(), states.dim(-1)}), places));
           },
       .save =
           [&](const fs::path& to) {
             run.save(tokenizer, to);
             chat.save(to);
           }},
      training, validation,
      {.loss_on = options.loss_on, .batches = {.max_tokens = options.batch_tokens, .seed = options.trainer.seed}});
  TrainerOptions trainer = options.trainer;
  trainer.folder = folder;
  trainer.activation_bytes =
      activation_bytes(model, options.batch_tokens, static_cast<double>(model.options.vocabulary), trainer.recompute);
  trainer.fingerprint = run_fingerprint(
      options,
      {.model = model.config().dump(), .tokenizer = fingerprint(tokenizer), .files = files, .from = options.from});
  return train(task, trainer, observer);
}

}  // namespace attend
