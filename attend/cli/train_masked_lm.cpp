// attend train masked-lm and attend finetune masked-lm: an encoder of texts from plain text, or a better one.
#include <CLI/CLI.hpp>
#include <iostream>
#include <memory>

#include "attend/cli/choice.h"
#include "attend/cli/input.h"
#include "attend/cli/model_folder.h"
#include "attend/cli/progress.h"
#include "attend/cli/training.h"
#include "attend/cli/verbs.h"
#include "attend/core/error.h"
#include "attend/data/fingerprint.h"
#include "attend/text/sentences.h"
#include "attend/text/train_wordpiece.h"
#include "attend/train/pre_training.h"

namespace attend::cli {
namespace {

enum class Documents : std::uint8_t { empty_line, line, file };
const std::vector<std::pair<std::string, Documents>> kDocumentsNames = {
    {"empty-line", Documents::empty_line}, {"line", Documents::line}, {"file", Documents::file}};

struct Flags {
  TrainingFlags training;
  std::vector<std::string> train, validation;
  std::string from, tokenizer;
  Documents documents = Documents::empty_line;
  std::int64_t vocab_size = 8000, max_tokens = 128;
  bool next_sentence = true, lowercase = true;
  BertOptions model;
  MaskingOptions masking;
};

/// The sentences of each document.
using Texts = std::vector<std::vector<std::string>>;

Texts read_documents(const std::vector<std::string>& paths, Documents end) {
  Texts documents;
  ProgressBar bar("Reading", "B");
  std::int64_t before = 0;
  for (const std::string& path : paths) {
    LineReader reader({path});
    bool open = false;
    for (std::string line; reader.next(line);) {
      bar.update(before + reader.bytes_read(), 0);
      const std::vector<Span> spans = sentences(line);
      if (end == Documents::line || (spans.empty() && end == Documents::empty_line)) open = false;
      if (spans.empty()) continue;
      if (!open) documents.emplace_back(), open = true;
      for (const Span& span : spans)
        documents.back().push_back(
            line.substr(static_cast<std::size_t>(span.begin), static_cast<std::size_t>(span.end - span.begin)));
    }
    before += reader.bytes_read();
  }
  return documents;
}

Tokenizer make_tokenizer(const Flags& flags, const Texts& texts) {
  if (!flags.tokenizer.empty()) return load_tokenizer(flags.tokenizer);
  if (!flags.from.empty()) return load_tokenizer(flags.from);
  std::cerr << "Learning " << grouped(flags.vocab_size) << " subwords" << std::endl;
  ProgressBar bar("Merging", "tokens");
  return train_wordpiece(
      [&, document = std::size_t{0}, sentence = std::size_t{0}](std::string& line) mutable {
        while (document < texts.size() && sentence == texts[document].size()) ++document, sentence = 0;
        if (document == texts.size()) return false;
        line = texts[document][sentence++];
        return true;
      },
      {.vocab_size = flags.vocab_size, .lowercase = flags.lowercase}, bar.progress());
}

std::vector<PreTrainingExample> encode(const Texts& texts, const Tokenizer& tokenizer, const ExampleOptions& options) {
  std::vector<Document> documents;
  for (const std::vector<std::string>& text : texts) {
    Document& document = documents.emplace_back();
    for (const Encoding& encoding : tokenizer.encode_all(text, {.special_tokens = false}))
      document.push_back(to_sentence(encoding));
  }
  return make_examples(documents, options);
}

std::int32_t special_id(const std::optional<std::int32_t>& id, const char* what) {
  if (!id) fail<InputError>("train", "the tokenizer has no ", what, " token, which masked words need");
  return *id;
}

Bert make_model(Flags& flags, const Tokenizer& tokenizer) {
  const BertHead head = flags.next_sentence ? BertHead::pre_training : BertHead::masked_words;
  if (!flags.from.empty()) {
    warn_of_weights(flags.from);
    std::vector<std::string> begun;
    Bert model = load_bert(flags.from, {.head = head, .begun = &begun});
    if (model.options.vocabulary < tokenizer.size())
      fail<InputError>("finetune", flags.from, ": has ", model.options.vocabulary, " words, but its tokenizer ",
                       tokenizer.size());
    if (!begun.empty()) warn("the model has no weights for what it is to learn, they begin anew: " + one_of(begun));
    return model;
  }
  flags.model.head = head;
  flags.model.vocabulary = tokenizer.size();
  flags.model.padding = special_id(tokenizer.special().padding, "padding");
  flags.model.positions = flags.max_tokens;
  flags.model.attention_dropout = flags.model.head_dropout = flags.model.dropout;
  Generator generator(flags.training.trainer.seed);
  return Bert(flags.model, generator);
}

void run(Flags& flags) {
  check_output(flags.training);
  const Texts texts = read_documents(flags.train, flags.documents);
  if (texts.empty()) fail<InputError>("train", flags.train.front(), ": holds no text");
  const Texts validation_texts = read_documents(flags.validation, flags.documents);
  // A resumed run takes its own tokenizer.
  const std::filesystem::path folder = flags.training.output;
  const bool resumed = flags.training.resume && std::filesystem::exists(folder / "checkpoint.safetensors");
  std::filesystem::create_directories(folder);
  if (!resumed) save_tokenizer(make_tokenizer(flags, texts), folder);
  const Tokenizer tokenizer = load_tokenizer(folder);
  Bert model = make_model(flags, tokenizer);
  if (flags.max_tokens > model.options.max_tokens())
    fail<InputError>("train", "--max-tokens is ", flags.max_tokens, ", but the model has positions for ",
                     model.options.max_tokens());

  const SpecialTokens& special = tokenizer.special();
  flags.masking.mask = special_id(special.mask, "mask");
  for (std::int32_t id = 0; id < static_cast<std::int32_t>(tokenizer.size()); ++id)
    if (!tokenizer.is_special(id)) flags.masking.words.push_back(id);
  const ExampleOptions options{
      .max_tokens = flags.max_tokens,
      .next_sentence = flags.next_sentence,
      .classify = special_id(special.classify ? special.classify : special.bos, "first"),
      .separator = special_id(special.separator ? special.separator : special.eos, "separator"),
      .seed = flags.training.trainer.seed};
  std::vector<PreTrainingExample> training = encode(texts, tokenizer, options);
  std::vector<PreTrainingExample> validation = encode(validation_texts, tokenizer, options);
  if (training.empty())
    fail<InputError>("train", flags.train.front(), ": has no two sentences in one document, so that there is nothing ",
                     "that could follow; add --no-next-sentence, or see --documents");
  train_parameters(model);
  std::cerr << grouped(static_cast<std::int64_t>(texts.size())) << " documents, "
            << grouped(static_cast<std::int64_t>(training.size())) << " examples, "
            << grouped(static_cast<std::int64_t>(validation.size())) << " for validation, "
            << grouped(count_parameters(model)) << " parameters" << std::endl;
  Config config;
  model.options.write(config);
  Fingerprint data;
  data.add(config.dump());
  for (const double value : {static_cast<double>(flags.training.batch_tokens), static_cast<double>(flags.max_tokens),
                             static_cast<double>(flags.masking.share), flags.masking.whole_words ? 1.0 : 0.0})
    data.add(std::to_string(value));
  for (const std::string& path : flags.train) data.add_contents(path);
  PreTrainee trainee(model, parameters(model),
                     [&](const std::filesystem::path& where) {
                       save_bert(model, where);
                       save_tokenizer(tokenizer, where);
                     },
                     std::move(training), std::move(validation),
                     {.masking = flags.masking,
                      .batches = {.max_tokens = flags.training.batch_tokens, .seed = flags.training.trainer.seed}});
  run_training(trainee, flags.training, "Training of " + flags.training.output, std::to_string(data.value()));
}

void add_flags(CLI::App& verb, Flags& flags) {
  const auto share = CLI::Range(0.0, 1.0).description("");
  const auto option = [&](const char* name, auto& value, const char* help, const char* type) {
    return verb.add_option(name, value, help)->type_name(type)->capture_default_str();
  };
  verb.add_option("--train", flags.train, "Plain text to learn from")->type_name("FILE…")->required();
  verb.add_option("--validation", flags.validation, "Plain text to judge by; the best model on it is kept")
      ->type_name("FILE…");
  add_choice(verb, "--documents", flags.documents, kDocumentsNames, "Where a document ends");
  option("--max-tokens", flags.max_tokens, "Tokens of an example: sentences are put together up to it", "N")
      ->check(CLI::PositiveNumber.description(""));
  verb.add_flag("--next-sentence,!--no-next-sentence", flags.next_sentence,
                "Learn too whether a text follows another (the default), or hidden words alone");
  option("--hidden", flags.masking.share, "The share of tokens that are to be said", "SHARE")->check(share);
  verb.add_flag("--whole-words", flags.masking.whole_words, "Hide all pieces of a word, or none");
  add_training_flags(verb, flags.training, {"loss", "word_accuracy", "next_accuracy"});
}

void check_and_run(Flags& flags) {
  check_validation(flags.training, !flags.validation.empty());
  run(flags);
}

}  // namespace

void add_train_masked_lm(CLI::App& parent) {
  CLI::App* verb = parent.add_subcommand("masked-lm", "An encoder of texts (BERT) from plain text");
  auto flags = std::make_shared<Flags>();
  TrainerOptions& trainer = flags->training.trainer;
  trainer.epochs = 20, trainer.learning_rate = 5e-4, trainer.warmup = 200;
  BertOptions& model = flags->model;
  model.width = 256, model.layers = 4, model.heads = 4, model.inner = 1024;
  add_flags(*verb, *flags);
  const auto positive = CLI::PositiveNumber.description("");
  verb->add_option("--tokenizer", flags->tokenizer, "A tokenizer's folder, instead of learning one")->type_name("DIR");
  const auto option = [](CLI::App* app, const char* name, auto& value, const char* help, const char* type) {
    return app->add_option(name, value, help)->type_name(type)->capture_default_str();
  };
  option(verb, "--vocab-size", flags->vocab_size, "Subwords to learn", "N")->check(positive);
  verb->add_flag("--lowercase,!--cased", flags->lowercase, "Take words as lower case (the default), or as they are");
  auto* net = verb->add_option_group("The network");
  option(net, "--width", model.width, "Numbers for each token", "N")->check(positive);
  option(net, "--layers", model.layers, "", "N")->check(positive);
  option(net, "--heads", model.heads, "Attention heads, which divide the width", "N")->check(positive);
  option(net, "--inner", model.inner, "Units of the feed-forward networks", "N")->check(positive);
  option(net, "--dropout", model.dropout, "Of embeddings, attention weights and between layers", "SHARE")
      ->check(CLI::Range(0.0, 0.99).description(""));
  verb->footer(
      "Documents are apart by an empty line unless told; sentences are found in them.\n"
      "Example:\n"
      "  attend train masked-lm --train texts.txt --validation held-out.txt --output encoder\n"
      "  attend fill-mask --model encoder 'The door is [MASK].'\n"
      "  attend finetune classifier --from encoder --train reviews.tsv --output reviews");
  verb->callback([flags] { check_and_run(*flags); });
}

void add_finetune_masked_lm(CLI::App& parent) {
  CLI::App* verb = parent.add_subcommand("masked-lm", "An encoder that knows its language, for texts of one's own");
  auto flags = std::make_shared<Flags>();
  TrainerOptions& trainer = flags->training.trainer;
  trainer.epochs = 3, trainer.learning_rate = 5e-5, trainer.warmup = 100;
  flags->next_sentence = false;
  verb->add_option("--from", flags->from, "The folder of the model to start from: BERT, DistilBERT or RoBERTa")
      ->type_name("DIR")
      ->required();
  add_flags(*verb, *flags);
  verb->footer("Example: attend finetune masked-lm --from bert-base-uncased --train texts.txt --output our-bert");
  verb->callback([flags] { check_and_run(*flags); });
}

}  // namespace attend::cli
