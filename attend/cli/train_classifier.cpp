// attend train classifier: labels from labelled texts.
#include <CLI/CLI.hpp>
#include <iostream>
#include <memory>

#include "attend/cli/shared/choice.h"
#include "attend/cli/shared/labelled_texts.h"
#include "attend/cli/shared/numbers.h"
#include "attend/cli/shared/progress.h"
#include "attend/cli/verbs.h"
#include "attend/data/fingerprint.h"
#include "attend/data/tokenized_texts.h"
#include "attend/tasks/classification/classifier.h"
#include "attend/models/recurrent_common.h"
#include "attend/nn/module.h"
#include "attend/text/training/train_words.h"

namespace attend::cli {
namespace {

struct Flags : LabelFlags {
  std::string arch = "rnn", tokenizer;
  std::int64_t vocab_size = 30000, min_frequency = 1;
  bool lowercase = true;
  RecurrentClassifierOptions model;
};

Tokenizer make_tokenizer(const Flags& flags, const Labelled& data) {
  if (!flags.tokenizer.empty()) return load_tokenizer(flags.tokenizer);
  std::size_t next = 0;
  return train_words(
      [&](std::string& line) {
        if (next == data.texts.size()) return false;
        line = data.texts[next++];
        return true;
      },
      {.vocab_size = flags.vocab_size,
       .min_frequency = flags.min_frequency,
       .lowercase = flags.lowercase,
       .append_eos = false});
}

LabelledTexts encode(const Tokenizer& tokenizer, const Labelled& data, const std::vector<std::string>& labels,
                     const std::string& path) {
  LabelledTexts encoded;
  for (Encoding& encoding : tokenizer.encode_all(data.texts))
    encoded.texts.push_back(ids_to_classify(tokenizer, std::move(encoding.ids)));
  encoded.labels = label_places(data, labels, path);
  return encoded;
}

void run(Flags& flags) {
  check_output(flags.training);
  check_texts({flags.train, flags.validation});
  const Labelled train_data = read_labelled(flags, flags.train);
  Labelled validation_data;
  if (!flags.validation.empty()) validation_data = read_labelled(flags, flags.validation);
  const Tokenizer tokenizer = make_tokenizer(flags, train_data);
  std::vector<std::string>& labels = flags.model.labels;
  labels = labels_of(train_data);
  LabelledTexts training = encode(tokenizer, train_data, labels, flags.train);
  LabelledTexts validation = encode(tokenizer, validation_data, labels, flags.validation);

  flags.model.vocabulary = tokenizer.size();
  Generator generator(flags.training.trainer.seed);
  RecurrentClassifier model(flags.model, generator);
  train_parameters(model);
  std::cerr << counted(training.size(), "text") << ", " << grouped(validation.size()) << " for validation, "
            << counted(std::ssize(labels), "label") << " (" << listed(labels) << "), "
            << counted(tokenizer.size(), "word") << ", " << grouped(count_parameters(model)) << " parameters"
            << std::endl;
  ClassifierTrainingOptions options = flags.options();
  options.padding = tokenizer.special().padding.value_or(0);
  options.unknown = tokenizer.special().unknown.value_or(-1);
  ClassifierTrainee trainee(
      {.parameters = parameters(model),
       .logits = [&](const TokenBatch& texts, const Tensor&) { return model(texts.ids, texts.lengths); },
       .save =
           [&](const std::filesystem::path& folder) {
             model.save(folder);
             save_tokenizer(tokenizer, folder);
           }},
      labels, std::move(training), std::move(validation), options);
  Config config;
  flags.model.write(config);
  Fingerprint data;
  data.add(config.dump()).add(fingerprint(tokenizer)).add_contents(flags.train);
  run_training(trainee, flags.training, "Training of " + flags.training.output, std::to_string(data.value()));
}

}  // namespace

void add_train_classifier(CLI::App& parent) {
  CLI::App* verb = parent.add_subcommand("classifier", "Labels for texts, from labelled texts");
  auto flags = std::make_shared<Flags>();
  flags->label_column = "2", flags->batch = 64, flags->word_dropout = 0.1f;
  TrainerOptions& trainer = flags->training.trainer;
  trainer.epochs = 10, trainer.learning_rate = 2e-3, trainer.average = 0.99;
  const auto share = between(0.0, 0.99);
  const auto option = [](CLI::App* app, const char* name, auto& value, const char* help, const char* type) {
    return app->add_option(name, value, help)->type_name(type)->capture_default_str();
  };
  add_label_data_flags(*verb, *flags);
  option(verb, "--label-column", flags->label_column, "The column of the label", "C");
  option(verb, "--arch", flags->arch, "rnn: a recurrent network", "NAME")
      ->check(CLI::IsMember({"rnn"}).description(""));
  CLI::Option* tokenizer =
      verb->add_option("--tokenizer", flags->tokenizer, "A tokenizer's folder, instead of learning words");
  tokenizer->type_name("DIR");
  option(verb, "--vocab-size", flags->vocab_size, "Words at most, the most frequent", "N")
      ->check(kPositive)
      ->excludes(tokenizer);
  option(verb, "--min-frequency", flags->min_frequency, "Rarer words are unknown", "N")
      ->check(kPositive)
      ->excludes(tokenizer);
  verb->add_flag("--lowercase,!--cased", flags->lowercase, "Take words as lower case (the default), or as they are")
      ->excludes(tokenizer);
  add_label_learning_flags(*verb, *flags);
  RecurrentClassifierOptions& model = flags->model;
  auto* net = verb->add_option_group("The network");
  add_choice(*net, "--pool", model.pooling, kStatePoolingNames, "How states become one");
  add_choice(*net, "--cell", model.cell, kCellNames);
  option(net, "--embedding", model.embedding, "Numbers for each word", "N")->check(kPositive);
  option(net, "--hidden", model.hidden, "Units of each recurrent layer", "N")->check(kPositive);
  option(net, "--layers", model.layers, "Recurrent layers", "N")->check(kPositive);
  option(net, "--dropout", model.dropout, "Of embeddings, between layers, of the pooled state", "SHARE")->check(share);
  net->add_flag("--bidirectional,!--one-direction", model.bidirectional,
                "Read both ways (the default), or only forward");
  add_training_flags(*verb, flags->training, {"accuracy", "f1", "loss"});
  verb->footer(
      "Example:\n"
      "  attend train classifier --train reviews.tsv --validation held-out.tsv --output reviews\n"
      "  echo 'A wonderful film.' | attend classify --model reviews --attention");
  verb->callback([flags] {
    check_validation(flags->training, !flags->validation.empty());
    run(*flags);
  });
}

}  // namespace attend::cli
