// attend finetune classifier: labels for texts, or for pairs of them, from an encoder that knows the language.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <iostream>
#include <memory>

#include "attend/cli/shared/choice.h"
#include "attend/cli/shared/labelled_texts.h"
#include "attend/cli/shared/model_folder.h"
#include "attend/cli/shared/numbers.h"
#include "attend/cli/shared/progress.h"
#include "attend/cli/verbs.h"
#include "attend/core/error.h"
#include "attend/data/fingerprint.h"
#include "attend/tasks/embedding/sentence_folder.h"
#include "attend/models/bert.h"
#include "attend/ops/tape.h"

namespace attend::cli {
namespace {

struct Flags : LabelFlags {
  std::string from;
  std::int64_t max_tokens = 0, frozen = 0;
  float dropout = -1.f;
  bool balanced = false;
};

LabelledTexts encode(const Tokenizer& tokenizer, const Labelled& data, const std::vector<std::string>& labels,
                     std::int64_t max_tokens, bool types, const std::string& path, std::int64_t& cut) {
  LabelledTexts encoded;
  const EncodeOptions options{.max_tokens = max_tokens, .long_text = LongText::truncate};
  std::vector<Encoding> encodings;
  if (data.seconds.empty())
    encodings = tokenizer.encode_all(data.texts, options);
  else
    for (std::size_t i = 0; i < data.texts.size(); ++i)
      encodings.push_back(tokenizer.encode_pair(data.texts[i], data.seconds[i], options));
  for (Encoding& encoding : encodings) {
    cut += encoding.dropped > 0;
    encoded.texts.push_back(std::move(encoding.ids));
    if (types) encoded.types.push_back(std::move(encoding.types));
  }
  encoded.labels = label_places(data, labels, path);
  return encoded;
}

/// The texts of a batch one behind the other.
BertInput without_padding(const TokenBatch& batch, const Tensor& types) {
  std::vector<std::int32_t> ids, kinds;
  BertInput input;
  const std::int64_t T = batch.ids.dim(1);
  for (std::int64_t b = 0; b < batch.ids.dim(0); ++b) {
    const std::int64_t length = batch.lengths.data<std::int32_t>()[b];
    const auto take = [&](const Tensor& from, std::vector<std::int32_t>& to) {
      const std::int32_t* row = from.data<std::int32_t>() + b * T;
      to.insert(to.end(), row, row + length);
    };
    take(batch.ids, ids);
    if (types.defined()) take(types, kinds);
    input.lengths.push_back(length);
  }
  const auto N = static_cast<std::int64_t>(ids.size());
  input.ids = Tensor::ids(ids, {N});
  if (types.defined()) input.types = Tensor::ids(kinds, {N});
  return input;
}

/// Keeps the embeddings and the first layers as they are.
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

void run(Flags& flags) {
  check_output(flags.training, flags.from);
  check_texts({flags.train, flags.validation});
  if (flags.label_column.empty()) flags.label_column = flags.pair_column.empty() ? "2" : "3";
  const Labelled train_data = read_labelled(flags, flags.train);
  Labelled validation_data;
  if (!flags.validation.empty()) validation_data = read_labelled(flags, flags.validation);

  const std::filesystem::path from = transformer_in(flags.from);
  warn_of_weights(from);
  const Tokenizer tokenizer = load_tokenizer(from);
  std::vector<std::string> begun;
  default_generator().restore(flags.training.trainer.seed, 0);
  Bert model = load_bert(from, {.head = BertHead::text_labels,
                                .labels = labels_of(train_data),
                                .several_labels = !flags.separator.empty(),
                                .begun = &begun});
  const std::vector<std::string>& labels = model.options.labels;
  if (const BertOptions own = BertOptions::read(Config(from / "config.json"));
      own.head == BertHead::text_labels && !begun.empty())
    warn("the model's head is for other labels (" + listed(own.labels) + "), and begins anew");
  if (flags.dropout >= 0) {
    BertOptions& o = model.options;
    o.dropout = o.attention_dropout = o.head_dropout = flags.dropout;
    model.encoder.set_dropout(flags.dropout, flags.dropout);
  }
  const std::int64_t most =
      flags.max_tokens > 0 ? std::min(flags.max_tokens, model.options.max_tokens()) : model.options.max_tokens();
  std::int64_t cut = 0;
  const bool types = model.options.types > 1 && !train_data.seconds.empty();
  LabelledTexts training = encode(tokenizer, train_data, labels, most, types, flags.train, cut);
  LabelledTexts validation = encode(tokenizer, validation_data, labels, most, types, flags.validation, cut);
  if (cut > 0) warn("cut: " + counted(cut, "text") + " longer than " + counted(most, "token"));

  train_parameters(model);
  if (flags.frozen > 0) freeze(model, flags.frozen);
  std::vector<NamedTensor> moved;
  std::int64_t count = 0;
  for (const NamedTensor& parameter : parameters(model))
    if (requires_grad(parameter.tensor)) moved.push_back(parameter), count += parameter.tensor.numel();
  std::cerr << grouped(training.size()) << " texts, " << grouped(validation.size()) << " for validation, "
            << counted(std::ssize(labels), "label") << " (" << listed(labels) << "), " << grouped(count) << " of "
            << grouped(count_parameters(model)) << " parameters to train" << std::endl;
  const SpecialTokens& special = tokenizer.special();
  ClassifierTrainingOptions options = flags.options();
  options.padding = model.options.padding;
  options.unknown = special.mask.value_or(special.unknown.value_or(-1));
  for (const auto& id : {special.classify, special.separator, special.bos, special.eos})
    if (id) options.never_dropped.push_back(*id);
  if (flags.balanced) options.label_weights = balanced_weights(training, labels.size());
  Config config;
  model.options.write(config);
  Fingerprint data;
  data.add(config.dump()).add_contents(flags.train).add(std::to_string(flags.frozen));
  ClassifierTrainee trainee({.parameters = std::move(moved),
                             .logits =
                                 [&](const TokenBatch& texts, const Tensor& kinds) {
                                   const BertInput input = without_padding(texts, kinds);
                                   return model.label_texts(model.encode(input), input.lengths);
                                 },
                             .save =
                                 [&](const std::filesystem::path& folder) {
                                   model.save(folder);
                                   save_tokenizer(tokenizer, folder);
                                 }},
                            labels, std::move(training), std::move(validation), options);
  run_training(trainee, flags.training, "Fine-tuning of " + flags.from, std::to_string(data.value()));
}

}  // namespace

void add_finetune_classifier(CLI::App& parent) {
  CLI::App* verb = parent.add_subcommand("classifier", "Labels for texts or pairs, from an encoder (BERT and its kin)");
  auto flags = std::make_shared<Flags>();
  TrainerOptions& trainer = flags->training.trainer;
  trainer.epochs = 4, trainer.learning_rate = 5e-5, trainer.schedule = Schedule::Kind::linear, trainer.warmup = 50;
  trainer.patience = 3;
  verb->add_option("--from", flags->from, "The encoder's folder: BERT, DistilBERT or RoBERTa, or one of Attend's own")
      ->type_name("DIR")
      ->required();
  add_label_data_flags(*verb, *flags);
  verb->add_option("--pair-column", flags->pair_column, "The column of a second text, for labels of pairs")
      ->type_name("C");
  verb->add_option("--label-column", flags->label_column, "The column of the label; 2, or 3 with pairs")
      ->type_name("C");
  verb->add_option("--several-labels", flags->separator,
                   "A text may have several labels, or none, with this between them")
      ->type_name("TEXT");
  verb->add_flag("--balanced", flags->balanced, "Rare labels count as much as frequent ones");
  verb->add_option("--max-tokens", flags->max_tokens, "Longer texts are cut; otherwise by the model's own limit")
      ->type_name("N")
      ->check(kPositive);
  verb->add_option("--freeze", flags->frozen, "Keep the embeddings and so many of the first layers as they are")
      ->type_name("N")
      ->capture_default_str()
      ->check(kNotNegative);
  verb->add_option("--dropout", flags->dropout, "Instead of the model's own")
      ->type_name("SHARE")
      ->check(between(0.0, 0.99));
  add_label_learning_flags(*verb, *flags);
  add_training_flags(*verb, flags->training, {"accuracy", "f1", "loss"});
  verb->footer(
      "Example:\n"
      "  attend finetune classifier --from bert-base-uncased --train reviews.tsv --validation held-out.tsv --output "
      "reviews\n"
      "  echo 'A wonderful film.' | attend classify --model reviews");
  verb->callback([flags] {
    check_validation(flags->training, !flags->validation.empty());
    if (flags->balanced && !flags->separator.empty())
      throw CLI::ValidationError("--balanced", "is for texts with one label each");
    run(*flags);
  });
}

}  // namespace attend::cli
