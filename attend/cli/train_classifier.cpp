// attend train classifier: labels from labelled texts.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <iostream>
#include <map>
#include <memory>

#include "attend/cli/choice.h"
#include "attend/cli/input.h"
#include "attend/cli/progress.h"
#include "attend/cli/training.h"
#include "attend/cli/verbs.h"
#include "attend/core/error.h"
#include "attend/data/fingerprint.h"
#include "attend/data/reader.h"
#include "attend/decode/classifier.h"
#include "attend/models/recurrent_common.h"
#include "attend/nn/module.h"
#include "attend/text/train_words.h"
#include "attend/train/classifier.h"

namespace attend::cli {
namespace {

struct Flags {
  TrainingFlags training;
  std::string train, validation, arch = "rnn", tokenizer, text_column = "1", label_column = "2";
  std::int64_t vocab_size = 30000, min_frequency = 1, batch = 64;
  float word_dropout = 0.1f, label_smoothing = 0.f;
  bool lowercase = true;
  RecurrentClassifierOptions model;
};

struct Labelled {
  std::vector<std::string> texts, labels;
};

Labelled read_labelled(const Flags& flags, const std::string& path) {
  const auto reader = read_tsv(TextStream::open(path), {flags.text_column, flags.label_column});
  Labelled data;
  for (Record record; reader->next(record);) {
    if (record.target.empty())
      fail<InputError>("train", path, ", line ", record.line, ": has no label in column ", flags.label_column);
    data.texts.push_back(record.source), data.labels.push_back(record.target);
  }
  if (data.texts.empty()) fail<InputError>("train", path, ": holds no labelled text");
  return data;
}

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
  for (const std::string& label : data.labels) {
    const auto found = std::ranges::lower_bound(labels, label);
    if (found == labels.end() || *found != label)
      fail<InputError>("train", path, ": has the label \"", label, "\", which no text to learn from has");
    encoded.labels.push_back({static_cast<std::int32_t>(found - labels.begin())});
  }
  return encoded;
}

void run(Flags& flags) {
  check_output(flags.training);
  const Labelled train_data = read_labelled(flags, flags.train);
  Labelled validation_data;
  if (!flags.validation.empty()) validation_data = read_labelled(flags, flags.validation);
  const Tokenizer tokenizer = make_tokenizer(flags, train_data);
  std::vector<std::string>& labels = flags.model.labels;
  labels = train_data.labels;
  std::ranges::sort(labels);
  labels.erase(std::unique(labels.begin(), labels.end()), labels.end());
  LabelledTexts training = encode(tokenizer, train_data, labels, flags.train);
  LabelledTexts validation = encode(tokenizer, validation_data, labels, flags.validation);

  flags.model.vocabulary = tokenizer.size();
  Generator generator(flags.training.trainer.seed);
  RecurrentClassifier model(flags.model, generator);
  train_parameters(model);
  std::cerr << grouped(training.size()) << " texts, " << grouped(validation.size()) << " for validation, "
            << labels.size() << " labels, " << grouped(tokenizer.size()) << " words, "
            << grouped(count_parameters(model)) << " parameters" << std::endl;
  ClassifierTrainee trainee(
      {.parameters = parameters(model),
       .logits = [&](const TokenBatch& texts, const Tensor&) { return model(texts.ids, texts.lengths); },
       .save =
           [&](const std::filesystem::path& folder) {
             save_model(model, kRecurrentClassifierType, tokenizer, folder);
           }},
      labels, std::move(training), std::move(validation),
      {.padding = tokenizer.special().padding.value_or(0),
       .unknown = tokenizer.special().unknown.value_or(-1),
       .word_dropout = flags.word_dropout,
       .label_smoothing = flags.label_smoothing,
       .batches = {.max_tokens = flags.training.batch_tokens,
                   .max_sequences = flags.batch,
                   .seed = flags.training.trainer.seed}});
  Config config;
  flags.model.write(config);
  Fingerprint data;
  data.add(config.dump()).add_contents(flags.train);
  run_training(trainee, flags.training, "Training of " + flags.training.output, std::to_string(data.value()));
}

}  // namespace

void add_train_classifier(CLI::App& parent) {
  CLI::App* verb = parent.add_subcommand("classifier", "Labels for texts, from labelled texts");
  auto flags = std::make_shared<Flags>();
  TrainerOptions& trainer = flags->training.trainer;
  trainer.epochs = 10, trainer.learning_rate = 2e-3, trainer.average = 0.99;
  const auto positive = CLI::PositiveNumber.description("");
  const auto share = CLI::Range(0.0, 0.99).description("");
  const auto option = [](CLI::App* app, const char* name, auto& value, const char* help, const char* type) {
    return app->add_option(name, value, help)->type_name(type)->capture_default_str();
  };
  verb->add_option("--train", flags->train, "Texts to learn from: text, tab, label on each line")
      ->type_name("FILE")
      ->required();
  verb->add_option("--validation", flags->validation, "Texts to judge by; the best model on them is kept")
      ->type_name("FILE");
  option(verb, "--text-column", flags->text_column, "The column of the text: a number, or a name of the first row",
         "C");
  option(verb, "--label-column", flags->label_column, "The column of the label", "C");
  option(verb, "--arch", flags->arch, "rnn: a recurrent network", "NAME")
      ->check(CLI::IsMember({"rnn"}).description(""));
  verb->add_option("--tokenizer", flags->tokenizer, "A tokenizer's folder, instead of learning words")
      ->type_name("DIR");
  option(verb, "--vocab-size", flags->vocab_size, "Words at most, the most frequent", "N")->check(positive);
  option(verb, "--min-frequency", flags->min_frequency, "Rarer words are unknown", "N")->check(positive);
  verb->add_flag("--lowercase,!--cased", flags->lowercase, "Take words as lower case (the default), or as they are");
  option(verb, "--batch", flags->batch, "Texts of a batch at most", "N")->check(positive);
  option(verb, "--word-dropout", flags->word_dropout, "The share of words that are hidden in training", "SHARE")
      ->check(share);
  option(verb, "--label-smoothing", flags->label_smoothing, "This share of the target goes to all labels", "SHARE")
      ->check(share);
  RecurrentClassifierOptions& model = flags->model;
  auto* net = verb->add_option_group("The network");
  add_choice(*net, "--pool", model.pooling, kStatePoolingNames, "How states become one");
  add_choice(*net, "--cell", model.cell, kCellNames);
  option(net, "--embedding", model.embedding, "Numbers for each word", "N")->check(positive);
  option(net, "--hidden", model.hidden, "Units of each recurrent layer", "N")->check(positive);
  option(net, "--layers", model.layers, "Recurrent layers", "N")->check(positive);
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
