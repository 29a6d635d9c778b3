// attend train language-model and attend finetune language-model: a GPT-2 from plain text, or a better one.
#include <CLI/CLI.hpp>
#include <iostream>
#include <memory>
#include <optional>

#include "attend/cli/shared/choice.h"
#include "attend/cli/shared/input.h"
#include "attend/cli/shared/numbers.h"
#include "attend/cli/shared/progress.h"
#include "attend/cli/shared/training.h"
#include "attend/cli/verbs.h"
#include "attend/core/error.h"
#include "attend/data/fingerprint.h"
#include "attend/data/tokenized_texts.h"
#include "attend/ops/dropout.h"
#include "attend/ops/tape.h"
#include "attend/tasks/language_model/language_model.h"
#include "attend/tasks/language_model/training.h"
#include "attend/text/training/train_bpe.h"
#include "attend/text/training/train_words.h"

namespace attend::cli {
namespace {

enum class Tokens : std::uint8_t { bpe, characters };

struct Flags {
  TrainingFlags training;
  std::vector<std::string> train, validation;
  double validation_share = 0.1;
  DocumentEnd document_end = DocumentEnd::file;
  std::string from, tokenizer;  // from: empty unless fine-tuning
  Tokens tokens = Tokens::bpe;
  std::int64_t vocab_size = 8000;
  std::int64_t context = 256, judged = 0;
  std::optional<float> dropout;
  Gpt2Options model;
  std::string sample_prompt;
  std::int64_t sample_tokens = 100;
};

/// Learns characters or subwords from the texts.
Tokenizer learn_tokenizer(const Flags& flags) {
  for (const std::string& file : flags.train)
    if (is_token_store(file))
      throw CLI::ValidationError("--tokenizer", "name the folder of the tokenizer that made " + file);
  LineReader reader(flags.train);
  ProgressBar bar("Reading", "B");
  const LineSource lines = [&](std::string& line) {
    const bool more = reader.next(line);
    bar.update(reader.bytes_read(), reader.total_bytes());
    return more;
  };
  if (flags.tokens == Tokens::characters)
    return train_characters(
        lines,
        {.vocab_size = flags.vocab_size, .append_eos = false, .special = {.unknown = "<unk>", .eos = "<|endoftext|>"}});
  return train_bpe(lines, {.vocab_size = flags.vocab_size}, bar.progress());
}

std::vector<std::filesystem::path> paths(const std::vector<std::string>& files) { return {files.begin(), files.end()}; }

/// The ids of some files, kept beside the model so that a resumed run finds them; or a store that is there already.
TokenStore tokenized(const Flags& flags, const std::vector<std::string>& files, const Tokenizer& tokenizer,
                     const char* name) {
  for (const std::string& file : files) {
    if (!is_token_store(file)) continue;
    if (files.size() > 1) fail<InputError>("train", file, ": is a token store; those are used alone");
    const TokenStore store(file);
    if (store.key().tokenizer != fingerprint(tokenizer))
      fail<InputError>("train", file, ": its tokens are not those of the model's tokenizer");
    return store;
  }
  ProgressBar bar("Tokenizing", "B");
  const std::filesystem::path folder = flags.training.output;
  std::filesystem::create_directories(folder);
  return tokenized_texts(paths(files), tokenizer, folder / name, {.document_end = flags.document_end}, bar.progress())
      .store;
}

Gpt2 new_model(const Flags& flags, const Tokenizer& tokenizer) {
  Gpt2Options o = flags.model;
  o.vocabulary = tokenizer.size(), o.positions = flags.context;
  o.dropout = o.embedding_dropout = o.attention_dropout = flags.dropout.value_or(0.1f);
  o.end = tokenizer.special().eos.value_or(0), o.start = tokenizer.special().bos.value_or(o.end);
  Generator generator(flags.training.trainer.seed);
  return Gpt2(o, generator);
}

Gpt2 old_model(const Flags& flags, const Tokenizer& tokenizer) {
  Gpt2 model = load_gpt2(flags.from);
  Gpt2Options& o = model.options;
  if (tokenizer.size() > o.vocabulary)
    fail<InputError>("finetune", flags.from, ": its tokenizer has ", tokenizer.size(), " tokens, its model ",
                     o.vocabulary);
  if (flags.context > o.positions)
    throw CLI::ValidationError("--context", "the model sees " + std::to_string(o.positions) + " tokens at most");
  if (flags.dropout) {
    o.dropout = o.embedding_dropout = o.attention_dropout = *flags.dropout;
    model.decoder.set_dropout(*flags.dropout, *flags.dropout);
  }
  return model;
}

/// What is written beside a model of ours: where texts begin and end. Those of others bring their own.
void save_generation(const Flags& flags, const Gpt2Options& o, const std::filesystem::path& folder) {
  const std::filesystem::path old = std::filesystem::path(flags.from) / "generation_config.json";
  if (!flags.from.empty() && std::filesystem::exists(old)) {
    std::filesystem::copy_file(old, folder / "generation_config.json",
                               std::filesystem::copy_options::overwrite_existing);
    return;
  }
  Config config;
  config.set("bos_token_id", std::int64_t{o.start}), config.set("eos_token_id", std::int64_t{o.end});
  config.save(folder / "generation_config.json");
}

void run(Flags& flags) {
  check_output(flags.training, flags.from);
  for (const std::vector<std::string>* files : {&flags.train, &flags.validation}) check_texts(*files);
  const std::string& given = flags.from.empty() ? flags.tokenizer : flags.from;
  const Tokenizer tokenizer = given.empty() ? learn_tokenizer(flags) : load_tokenizer(given);
  Gpt2 model = flags.from.empty() ? new_model(flags, tokenizer) : old_model(flags, tokenizer);
  train_parameters(model);
  const TokenStore store = tokenized(flags, flags.train, tokenizer, "train.tokens");
  StoredText training{store, {0, store.size()}};
  std::optional<StoredText> validation;
  if (!flags.validation.empty()) {
    const TokenStore held_out = tokenized(flags, flags.validation, tokenizer, "validation.tokens");
    validation = StoredText{held_out, {0, held_out.size()}};
  } else if (flags.validation_share > 0) {
    std::tie(training, validation) = hold_back(store, flags.validation_share);
  }
  const std::int64_t batch = std::max<std::int64_t>(flags.training.batch_tokens / flags.context, 1);
  std::cerr << counted(training.range.size(), "token") << ", " << grouped(validation ? validation->range.size() : 0)
            << " for validation, " << grouped(tokenizer.size()) << " different, " << grouped(count_parameters(model))
            << " parameters, " << counted(batch, "window") << " of " << grouped(flags.context) << " in a batch"
            << std::endl;
  LanguageModelTrainee trainee(
      {.parameters = parameters(model),
       .logits = [&](const Tensor& ids) { return model(ids); },
       .save =
           [&](const std::filesystem::path& to) {
             model.save(to);
             save_tokenizer(tokenizer, to);
             save_generation(flags, model.options, to);
           }},
      training, validation,
      {.batch = batch, .context = flags.context, .seed = flags.training.trainer.seed, .judged = flags.judged});
  const auto show = [&] {
    if (flags.sample_tokens == 0) return;
    const LanguageModel writer(model, tokenizer);
    const Generation said = writer(flags.sample_prompt, {.search = {.temperature = 0.8,
                                                                    .top_k = 200,
                                                                    .seed = flags.training.trainer.seed,
                                                                    .max_new_tokens = flags.sample_tokens},
                                                         .long_context = LongContext::slide});
    std::cerr << "  | ";
    for (const char c : flags.sample_prompt + said.text) std::cerr << (c == '\n' ? "\n  | " : std::string(1, c));
    std::cerr << std::endl;
  };
  Config config;
  model.options.write(config);
  Fingerprint data;
  data.add(config.dump()).add(fingerprint(tokenizer));
  for (const std::int64_t number : {batch, flags.context, training.range.end})
    data.add(static_cast<std::uint64_t>(number));
  for (const std::string& file : flags.train) data.add_contents(file);
  if (!flags.from.empty()) data.add_contents(std::filesystem::path(flags.from) / "config.json");
  run_training(trainee, flags.training, "Training of " + flags.training.output, std::to_string(data.value()), show);
}

/// All flags but those that say what is trained.
void add_flags(CLI::App& verb, Flags& flags) {
  const auto option = [&](const char* name, auto& value, const char* help, const char* type) {
    return verb.add_option(name, value, help)->type_name(type)->capture_default_str();
  };
  verb.add_option("--train", flags.train,
                  "Plain text to learn from, several files are several documents; or a store of `attend tokenize`")
      ->type_name("FILE");
  verb.add_option("--validation", flags.validation, "Text or store to judge by, instead of the end of --train")
      ->type_name("FILE");
  option("--validation-share", flags.validation_share, "This share of --train, its end, is held back to judge by",
         "SHARE")
      ->check(between(0.0, 0.9))
      ->excludes("--validation");
  option("--validation-tokens", flags.judged, "Tokens to judge by at most; 0: all that there are", "N")
      ->check(kNotNegative);
  add_choice(verb, "--documents", flags.document_end, kDocumentEndNames, "Where a document of plain text ends");
  option("--context", flags.context, "Tokens of a window, which is what the model sees at once", "N")->check(kPositive);
  option("--sample-prompt", flags.sample_prompt, "What the text begins with that is shown at each validation", "TEXT");
  option("--sample-tokens", flags.sample_tokens, "Tokens of that text; 0: none", "N")->check(kNotNegative);
  TrainerOptions& trainer = flags.training.trainer;
  option("--beta2", trainer.beta2, "How long AdamW remembers the gradients' size", "SHARE")
      ->check(between(0.0, 0.99999));
  option("--floor", trainer.floor, "The share of the learning rate that is left at the end", "SHARE")
      ->check(between(0.0, 1.0));
  add_training_flags(verb, flags.training, {"loss", "perplexity"});
}

void check_and_run(Flags& flags) {
  if (flags.train.empty()) throw CLI::ValidationError("--train", "name the text to learn from");
  check_validation(flags.training, !flags.validation.empty() || flags.validation_share > 0);
  run(flags);
}

}  // namespace

void add_train_language_model(CLI::App& parent) {
  CLI::App* verb = parent.add_subcommand("language-model", "A GPT-2 that goes on from any prompt, from plain text");
  auto flags = std::make_shared<Flags>();
  TrainerOptions& trainer = flags->training.trainer;
  trainer.epochs = 3, trainer.learning_rate = 6e-4, trainer.warmup = 100, trainer.weight_decay = 0.1f;
  trainer.beta2 = 0.99, trainer.floor = 0.1, trainer.judge_every = 250;
  Gpt2Options& m = flags->model;
  m.width = 256, m.layers = 6, m.heads = 8;
  add_flags(*verb, *flags);
  CLI::Option* tokenizer =
      verb->add_option("--tokenizer", flags->tokenizer, "A tokenizer's folder, instead of learning one");
  tokenizer->type_name("DIR");
  add_choice(*verb, "--tokens", flags->tokens, {{"bpe", Tokens::bpe}, {"characters", Tokens::characters}},
             "What to learn: byte-level subwords as GPT-2's, or characters")
      ->excludes(tokenizer);
  verb->add_option("--vocab-size", flags->vocab_size, "Tokens to learn at most")
      ->type_name("N")
      ->capture_default_str()
      ->check(kPositive)
      ->excludes(tokenizer);
  auto* net = verb->add_option_group("The network");
  const auto option = [&](const char* name, auto& value, const char* help, const char* type) {
    return net->add_option(name, value, help)->type_name(type)->capture_default_str();
  };
  option("--layers", m.layers, "Layers", "N")->check(kPositive);
  option("--heads", m.heads, "Attention heads, which divide the width", "N")->check(kPositive);
  option("--width", m.width, "Numbers for each token", "N")->check(kPositive);
  option("--inner", m.inner, "Units of the feed-forward networks; 0: four times the width", "N")->check(kNotNegative);
  net->add_option("--dropout", flags->dropout, "Of embeddings, attention weights and what layers add; 0.1")
      ->type_name("SHARE")
      ->check(between(0.0, 0.99));
  net->add_flag("--bias,!--no-bias", m.bias,
                "Biases in linear layers and norms (the default), or none; then the folder has biases of 0");
  net->add_flag("--tied-output,!--untied-output", m.tied_output,
                "Output and embeddings share their weights (the default), or not");
  verb->footer(
      "Example:\n"
      "  attend train language-model --config shakespeare-char --train input.txt --output shakespeare\n"
      "  attend generate --model shakespeare 'ROMEO:' --temperature 0.8\n"
      "Recipes for --config: shakespeare-char.");
  verb->callback([flags] {
    check_heads(flags->model.heads, flags->model.width);
    check_and_run(*flags);
  });
}

void add_finetune_language_model(CLI::App& parent) {
  CLI::App* verb =
      parent.add_subcommand("language-model", "A language model that knows its language, for texts of one's own");
  auto flags = std::make_shared<Flags>();
  TrainerOptions& trainer = flags->training.trainer;
  trainer.epochs = 3, trainer.learning_rate = 5e-5, trainer.warmup = 50, trainer.judge_every = 100;
  flags->training.batch_tokens = 1024;
  verb->add_option("--from", flags->from, "The folder of the model to start from: GPT-2's, or Attend's own")
      ->type_name("DIR")
      ->required();
  add_flags(*verb, *flags);
  verb->add_option("--dropout", flags->dropout,
                   "Of embeddings, attention weights and what layers add; otherwise the "
                   "model's own")
      ->type_name("SHARE")
      ->check(between(0.0, 0.99));
  verb->footer(
      "Example:\n"
      "  attend finetune language-model --from gpt2 --train letters.txt --context 256 --output ours\n"
      "  attend generate --model ours 'Dear' --sample");
  verb->callback([flags] { check_and_run(*flags); });
}

}  // namespace attend::cli
