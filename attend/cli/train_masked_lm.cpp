// attend train masked-lm and attend finetune masked-lm: an encoder of texts from plain text, or a better one.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <iostream>
#include <memory>

#include "attend/cli/shared/choice.h"
#include "attend/cli/shared/input.h"
#include "attend/cli/shared/model_folder.h"
#include "attend/cli/shared/numbers.h"
#include "attend/cli/shared/progress.h"
#include "attend/cli/shared/training.h"
#include "attend/cli/verbs.h"
#include "attend/core/error.h"
#include "attend/data/fingerprint.h"
#include "attend/data/tokenized_texts.h"
#include "attend/tasks/embedding/sentence_folder.h"
#include "attend/text/sentences.h"
#include "attend/text/training/train_wordpiece.h"
#include "attend/tasks/masked_lm/training.h"

namespace attend::cli {
namespace {

constexpr std::int64_t kMaxTokens = 128;  // of an example, unless told

enum class Documents : std::uint8_t { empty_line, line, file };
const std::vector<std::pair<std::string, Documents>> kDocumentsNames = {
    {"empty-line", Documents::empty_line}, {"line", Documents::line}, {"file", Documents::file}};

struct Flags {
  TrainingFlags training;
  std::vector<std::string> train, validation;
  std::string from, tokenizer;
  Documents documents = Documents::empty_line;
  std::int64_t vocab_size = 8000, max_tokens = 0;  // max_tokens: 0 until the model is known
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

/// Whether one text follows another can be learned only from documents of two sentences, and from two of them.
void check_documents(const Texts& texts, const std::string& path) {
  constexpr const char* kHint = "; add --no-next-sentence, or see --documents";
  const std::int64_t all = std::ssize(texts);
  const std::int64_t short_ones =
      std::ranges::count_if(texts, [](const auto& sentences) { return sentences.size() < 2; });
  if (short_ones == all)
    fail<InputError>("train", path, ": has no two sentences in one document, so that there is nothing ",
                     "that could follow", kHint);
  if (all == 1)
    fail<InputError>("train", path, ": is one document, so that no second text could be from another", kHint);
  if (short_ones > 0)
    warn(path + ": " + grouped(short_ones) + " of " + grouped(all) +
         " documents have no second sentence and are left out; --no-next-sentence uses them");
}

Texts read_texts(const Flags& flags, const std::vector<std::string>& paths) {
  Texts texts = read_documents(paths, flags.documents);
  if (paths.empty()) return texts;
  if (texts.empty()) fail<InputError>("train", paths.front(), ": holds no text");
  if (flags.next_sentence) check_documents(texts, paths.front());
  return texts;
}

Tokenizer make_tokenizer(const Flags& flags, const Texts& texts) {
  if (!flags.tokenizer.empty()) return load_tokenizer(flags.tokenizer);
  if (!flags.from.empty()) return load_tokenizer(flags.from);
  std::cerr << "Learning " << grouped(flags.vocab_size) << " subwords" << std::endl;
  ProgressBar bar("Merging", "tokens");
  Tokenizer tokenizer = train_wordpiece(
      [&, document = std::size_t{0}, sentence = std::size_t{0}](std::string& line) mutable {
        while (document < texts.size() && sentence == texts[document].size()) ++document, sentence = 0;
        if (document == texts.size()) return false;
        line = texts[document][sentence++];
        return true;
      },
      {.vocab_size = flags.vocab_size, .lowercase = flags.lowercase}, bar.progress());
  bar.erase();
  if (tokenizer.size() < flags.vocab_size)
    std::cerr << "There are no more than " << grouped(tokenizer.size()) << " in the text" << std::endl;
  return tokenizer;
}

/// `path` is whose texts they are.
std::vector<PreTrainingExample> encode(const Texts& texts, const std::string& path, const Tokenizer& tokenizer,
                                       const ExampleOptions& options) {
  std::vector<Document> documents;
  for (const std::vector<std::string>& text : texts) {
    Document& document = documents.emplace_back();
    for (const Encoding& encoding : tokenizer.encode_all(text, {.special_tokens = false}))
      document.push_back(to_sentence(encoding));
  }
  std::vector<PreTrainingExample> examples = make_examples(documents, options);
  if (examples.empty() && !texts.empty())
    fail<InputError>("train", path, ": gives no example of ", options.max_tokens, " tokens");
  return examples;
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
    if (!begun.empty()) warn("the model has no weights for what it is to learn, they begin anew: " + listed(begun));
    return model;
  }
  flags.model.head = head;
  flags.model.vocabulary = tokenizer.size();
  flags.model.padding = special_id(tokenizer.special().padding, "padding");
  flags.model.positions = flags.max_tokens > 0 ? flags.max_tokens : kMaxTokens;
  flags.model.attention_dropout = flags.model.head_dropout = flags.model.dropout;
  Generator generator(flags.training.trainer.seed);
  return Bert(flags.model, generator);
}

void run(Flags& flags) {
  check_output(flags.training, flags.from);
  if (!flags.from.empty()) flags.from = transformer_in(flags.from);
  for (const std::vector<std::string>* files : {&flags.train, &flags.validation}) check_texts(*files);
  const Texts texts = read_texts(flags, flags.train), validation_texts = read_texts(flags, flags.validation);
  const Tokenizer tokenizer = make_tokenizer(flags, texts);
  Bert model = make_model(flags, tokenizer);
  const std::int64_t room = model.options.max_tokens();
  const std::int64_t max_tokens = flags.max_tokens > 0 ? flags.max_tokens : std::min(kMaxTokens, room);
  if (max_tokens > room)
    fail<InputError>("train", "--max-tokens is ", max_tokens, ", but the model has positions for ", room);

  const SpecialTokens& special = tokenizer.special();
  flags.masking.mask = special_id(special.mask, "mask");
  for (std::int32_t id = 0; id < static_cast<std::int32_t>(tokenizer.size()); ++id)
    if (!tokenizer.is_special(id)) flags.masking.words.push_back(id);
  const ExampleOptions options{
      .max_tokens = max_tokens,
      .next_sentence = flags.next_sentence,
      .classify = special_id(special.classify ? special.classify : special.bos, "first"),
      .separator = special_id(special.separator ? special.separator : special.eos, "separator"),
      .seed = flags.training.trainer.seed};
  std::vector<PreTrainingExample> training = encode(texts, flags.train.front(), tokenizer, options), validation;
  if (!flags.validation.empty()) validation = encode(validation_texts, flags.validation.front(), tokenizer, options);
  train_parameters(model);
  std::cerr << counted(std::ssize(texts), "document") << ", " << counted(std::ssize(training), "example") << ", "
            << grouped(std::ssize(validation)) << " for validation, " << grouped(count_parameters(model))
            << " parameters" << std::endl;
  Config config;
  model.options.write(config);
  Fingerprint data;
  data.add(config.dump()).add(fingerprint(tokenizer));
  for (const double value : {static_cast<double>(flags.training.batch_tokens), static_cast<double>(max_tokens),
                             static_cast<double>(flags.masking.share), flags.masking.whole_words ? 1.0 : 0.0})
    data.add(std::to_string(value));
  for (const std::string& path : flags.train) data.add_contents(path);
  PreTrainee trainee(model, parameters(model),
                     [&](const std::filesystem::path& where) {
                       model.save(where);
                       save_tokenizer(tokenizer, where);
                     },
                     std::move(training), std::move(validation),
                     {.masking = flags.masking,
                      .batches = {.max_tokens = flags.training.batch_tokens, .seed = flags.training.trainer.seed}});
  run_training(trainee, flags.training, "Training of " + flags.training.output, std::to_string(data.value()));
}

void add_flags(CLI::App& verb, Flags& flags) {
  const auto option = [&](const char* name, auto& value, const char* help, const char* type) {
    return verb.add_option(name, value, help)->type_name(type)->capture_default_str();
  };
  verb.add_option("--train", flags.train, "Plain text to learn from")->type_name("FILE…")->required();
  verb.add_option("--validation", flags.validation, "Plain text to judge by; the best model on it is kept")
      ->type_name("FILE…");
  add_choice(verb, "--documents", flags.documents, kDocumentsNames, "Where a document ends");
  verb.add_option("--max-tokens", flags.max_tokens,
                  "Tokens of an example, up to which sentences are put together; otherwise 128, or what --from takes")
      ->type_name("N")
      ->check(kPositive);
  verb.add_flag("--next-sentence,!--no-next-sentence", flags.next_sentence,
                "Learn too whether a text follows another (the default), or hidden words alone");
  option("--hidden", flags.masking.share, "The share of tokens that are to be said", "SHARE")
      ->check(kPositive)
      ->check(between(0.0, 1.0));
  verb.add_flag("--whole-words", flags.masking.whole_words, "Hide all pieces of a word, or none");
  add_training_flags(verb, flags.training, {"loss", "word_loss", "word_accuracy", "next_loss", "next_accuracy"});
}

void check_and_run(Flags& flags) {
  check_validation(flags.training, !flags.validation.empty());
  if (const std::string& metric = flags.training.trainer.metric; metric.starts_with("next_") && !flags.next_sentence)
    throw CLI::ValidationError("--metric", metric + " is of --next-sentence");
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
  CLI::Option* tokenizer =
      verb->add_option("--tokenizer", flags->tokenizer, "A tokenizer's folder, instead of learning one");
  tokenizer->type_name("DIR");
  const auto option = [](CLI::App* app, const char* name, auto& value, const char* help, const char* type) {
    return app->add_option(name, value, help)->type_name(type)->capture_default_str();
  };
  option(verb, "--vocab-size", flags->vocab_size, "Subwords to learn at most", "N")
      ->check(kPositive)
      ->excludes(tokenizer);
  verb->add_flag("--lowercase,!--cased", flags->lowercase, "Take words as lower case (the default), or as they are")
      ->excludes(tokenizer);
  auto* net = verb->add_option_group("The network");
  option(net, "--width", model.width, "Numbers for each token", "N")->check(kPositive);
  option(net, "--layers", model.layers, "", "N")->check(kPositive);
  option(net, "--heads", model.heads, "Attention heads, which divide the width", "N")->check(kPositive);
  option(net, "--inner", model.inner, "Units of the feed-forward networks", "N")->check(kPositive);
  option(net, "--dropout", model.dropout, "Of embeddings, attention weights and between layers", "SHARE")
      ->check(between(0.0, 0.99));
  verb->footer(
      "Documents are apart by an empty line unless told; sentences are found in them.\n"
      "Example:\n"
      "  attend train masked-lm --train texts.txt --validation held-out.txt --output encoder\n"
      "  attend fill-mask --model encoder 'The door is [MASK].'\n"
      "  attend finetune classifier --from encoder --train reviews.tsv --output reviews");
  verb->callback([flags] {
    check_heads(flags->model.heads, flags->model.width);
    check_and_run(*flags);
  });
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
