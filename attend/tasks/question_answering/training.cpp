#include "attend/tasks/question_answering/training.h"

#include <algorithm>

#include "attend/core/error.h"
#include "attend/core/threads.h"
#include "attend/core/wording.h"
#include "attend/data/tokenized_texts.h"
#include "attend/models/registry.h"
#include "attend/ops/tape.h"
#include "attend/tasks/classification/word_vectors.h"
#include "attend/tasks/embedding/sentence_folder.h"
#include "attend/tasks/encoder/bert_training.h"
#include "attend/tasks/question_answering/training_task.h"
#include "attend/text/training/train_words.h"
#include "attend/train/memory.h"
#include "attend/train/run.h"

namespace attend {
namespace {

namespace fs = std::filesystem;
using Options = AnswerTrainingOptions;

std::vector<Article> read(const fs::path& file, const TrainingObserver& observer) {
  SquadFile found = read_squad(file);
  found.invalid = {};  // check_run() has warned of it
  for (const std::string& warning : found.warnings()) observer.warn(file.string() + ": " + warning);
  return std::move(found.articles);
}

/// All questions, in three parts. Writes those that are held out to the output folder.
ArticleSplit read_data(const Options& options, const TrainingObserver& observer) {
  std::vector<Article> all;
  for (const fs::path& file : options.train) std::ranges::move(read(file, observer), std::back_inserter(all));
  ArticleSplit split = split_articles(std::move(all), options.validation_share, options.test_share, options.split_seed);
  fs::create_directories(options.trainer.output);
  // A run that is resumed has the files. If its options turn out to be others, they belong to the old model.
  const auto keep = [&](const std::vector<Article>& part, double share, const char* name) {
    const fs::path file = options.trainer.output / name;
    if (share > 0 && !(options.trainer.resume && fs::exists(file))) write_squad(part, file);
  };
  keep(split.validation, options.validation_share, "validation.json");
  keep(split.test, options.test_share, "test.json");
  if (!options.validation.empty()) split.validation = read(options.validation, observer);
  check_ids(split.validation);
  return split;
}

/// A model for training and its tokenizer.
struct Prepared {
  TrainableSpanModel model;
  std::string config;                   ///< the options of the model, as JSON
  std::int64_t parameters = 0;          ///< the number of all parameters, including frozen ones
  AnswerTrainingTaskOptions task = {};  ///< with the special tokens
  std::shared_ptr<Model> network = {};  ///< the model, for the estimate of memory
};

/// The vocabulary has the words of the training texts and questions, and those of the word vectors.
Tokenizer make_tokenizer(const std::vector<Article>& articles, const Options& options) {
  std::vector<std::string> lines;
  for (const Article& article : articles)
    for (const Passage& paragraph : article.passages) {
      lines.push_back(paragraph.text);
      for (const PassageQuestion& question : paragraph.questions) lines.push_back(question.question);
    }
  if (!options.vectors.empty())
    for_each_vector_word(options.vectors, [&](const std::string& word) {
      lines.insert(lines.end(), static_cast<std::size_t>(options.min_frequency), word);
    });
  return train_words(
      [&, next = lines.begin()](std::string& line) mutable {
        if (next == lines.end()) return false;
        line = std::move(*next++);
        return true;
      },
      {.vocab_size = options.vocab_size,
       .min_frequency = options.min_frequency,
       .lowercase = options.lowercase,
       .append_eos = false});
}

Prepared prepared_network(const std::shared_ptr<SpanModel>& network, const Tokenizer& tokenizer, bool fixed_words) {
  network->train_all();
  std::vector<NamedTensor> trained = network->stored_parameters();
  std::int64_t parameters = 0;
  for (const NamedTensor& parameter : trained) parameters += parameter.tensor.numel();
  if (fixed_words)
    std::erase_if(trained, [&](const NamedTensor& p) { return p.tensor.shares_memory_with(network->words().weight); });
  return {.model = {.parameters = std::move(trained),
                    .reader = SpanReader(network, tokenizer),
                    .save = [network, tokenizer](const fs::path& folder) { save_model(*network, tokenizer, folder); }},
          .config = network->config().dump(),
          .parameters = parameters,
          .task = {.unknown = tokenizer.special().unknown.value_or(-1)}};
}

Prepared new_network(const std::vector<Article>& articles, const Options& options, const TrainingObserver& observer) {
  const Tokenizer tokenizer = make_tokenizer(articles, options);
  Generator generator(options.trainer.seed);
  BidafOptions sizes = options.network;
  sizes.vocabulary = tokenizer.size();
  if (options.dropout) sizes.dropout = *options.dropout;
  const auto network = std::make_shared<Bidaf>(sizes, generator);
  if (!options.vectors.empty()) {
    const std::int64_t found = read_word_vectors(options.vectors, tokenizer, network->words().weight);
    observer.info("word vectors: " + grouped(found) + " of " + counted(tokenizer.size(), "word") + " are in " +
                  options.vectors.string());
  }
  return prepared_network(network, tokenizer, options.fixed_vectors);
}

/// Fine-tunes an encoder of BERT's family, or trains another model further.
Prepared tuned_model(const Options& options, const TrainingObserver& observer) {
  const fs::path from = transformer_in(options.from);
  const ModelFolder folder(from);
  warn_of_weights(folder.weights(), observer);
  if (!folder.can(Ability::embed)) {
    folder.require("finetune", Ability::answer);
    const auto network = std::dynamic_pointer_cast<SpanModel>(folder.load());
    if (!network || options.frozen_layers > 0)
      fail<InputError>("finetune", from.string(), ": is not of BERT's family; only that has layers to freeze");
    if (options.lora.on())
      fail<InputError>("finetune", from.string(), ": --lora is for Transformers, expected an encoder of BERT's family");
    if (options.dropout) network->set_dropout(*options.dropout);
    return prepared_network(network, folder.tokenizer(), false);
  }
  const Tokenizer& tokenizer = folder.tokenizer();
  default_generator().restore(options.trainer.seed, 0);
  std::vector<std::string> initialised;
  const auto model = std::make_shared<Bert>(load_bert(
      from, {.head = BertHead::question_answering, .mapped = options.lora.on(), .initialised = &initialised}));
  const AdapterInfo adapter = AdapterInfo::of(options.lora, from, "QUESTION_ANS", head_modules(*model, initialised));
  std::vector<NamedTensor> trained =
      prepare_fine_tuning(*model, {options.dropout, options.frozen_layers, adapter, options.trainer.seed});
  const SpecialTokens& special = tokenizer.special();
  AnswerTrainingTaskOptions task{.unknown = special.mask.value_or(special.unknown.value_or(-1))};
  for (const auto& id : {special.classify, special.separator, special.bos, special.eos})
    if (id) task.never_dropped.push_back(*id);
  return {.model = {.parameters = std::move(trained),
                    .reader = SpanReader(model, tokenizer),
                    .save =
                        [model, tokenizer, adapter](const fs::path& folder) {
                          adapter.lora.on() ? save_adapter(*model, adapter, folder)
                                            : save_model(*model, tokenizer, folder);
                        }},
          .config = model->config().dump(),
          .parameters = count_parameters(*model),
          .task = std::move(task),
          .network = model};
}

/// The windows of all training questions. Left out: questions whose answers are not in their paragraphs, that leave no
/// room for the text, or that have no words.
std::vector<SpanExample> examples_of(const std::vector<Article>& articles, const SpanReader& reader,
                                     const Options& options, const TrainingObserver& observer) {
  struct Asked {
    const Passage* paragraph;
    const PassageQuestion* question;
  };
  std::vector<Asked> asked;
  std::int64_t lost = 0, too_long = 0, empty = 0;
  for (const Article& article : articles)
    for (const Passage& paragraph : article.passages)
      for (const PassageQuestion& question : paragraph.questions) {
        if (question.answerable() && !question.found())
          ++lost;
        else if (!reader.has_room(question.question, options.windows))
          ++too_long;
        else
          asked.push_back({&paragraph, &question});
      }
  std::vector<std::vector<SpanExample>> encoded(asked.size());
  parallel_tasks(std::ssize(asked), [&](std::int64_t i) {
    const Asked& one = asked[static_cast<std::size_t>(i)];
    for (SpanWindow& window : reader.windows(one.question->question, one.paragraph->text, options.windows)) {
      SpanExample example;
      for (const ReferenceAnswer& answer : one.question->answers)
        if (const auto target = target_of(window, &answer); target.second > 0) example.targets.push_back(target);
      if (example.targets.empty()) example.targets.emplace_back(0, 0);
      example.window = std::move(window);
      encoded[static_cast<std::size_t>(i)].push_back(std::move(example));
    }
  });
  std::vector<SpanExample> all;
  for (std::vector<SpanExample>& windows : encoded) {
    empty += windows.empty();
    std::ranges::move(windows, std::back_inserter(all));
  }
  const auto warn = [&](std::int64_t count, const char* why) {
    if (count > 0) observer.warn("left out: " + counted(count, "training question") + " " + why);
  };
  warn(lost, "whose answers are not in the paragraph");
  warn(too_long, "that leave no room for the text within --max-tokens");
  warn(empty, "without words, or about a text without words");
  if (all.empty()) fail<InputError>("train", "no training question is left");
  return all;
}

}  // namespace

Options Options::finetune(fs::path from) {
  Options options;
  options.from = std::move(from);
  options.batch = 16, options.batch_tokens = 4096, options.word_dropout = 0.f, options.max_answer_tokens = 15;
  options.trainer = {
      .epochs = 3, .learning_rate = 5e-5, .schedule = Schedule::Kind::linear, .warmup = 50, .patience = 3};
  return options;
}

TrainingResult train_answers(const Options& options, const TrainingObserver& observer) {
  if (!options.validation.empty() && options.validation_share > 0)
    fail<InputError>("train", "give a file for validation, or a share of the training questions, not both");
  const AnswerRules rules = answer_rules(options.language);
  std::vector<fs::path> files = options.train;
  files.insert(files.end(), {options.validation, options.vectors});
  const auto folder = check_run(options.trainer, options.from, files, observer);
  const ArticleSplit split = read_data(options, observer);
  const bool fine_tuned = !options.from.empty();
  Prepared made = fine_tuned ? tuned_model(options, observer) : new_network(split.training, options, observer);
  const Tokenizer tokenizer = made.model.reader.tokenizer;
  std::vector<SpanExample> examples = examples_of(split.training, made.model.reader, options, observer);
  observer.info(counted(count_questions(split.training), "question") + " about " +
                counted(std::ssize(split.training), "article") + ", " + grouped(count_questions(split.validation)) +
                " for validation" +
                (options.test_share > 0 ? ", " + grouped(count_questions(split.test)) + " for test" : "") + ", " +
                (fine_tuned ? parameters_to_train(made.model.parameters, made.parameters, options.lora.on())
                            : counted(tokenizer.size(), "word") + ", " + grouped(made.parameters) + " parameters"));

  made.task.word_dropout = options.word_dropout;
  made.task.rules = rules;
  made.task.answers = {
      .max_answer_tokens = options.max_answer_tokens, .windows = options.windows, .batch_tokens = options.batch_tokens};
  made.task.batches = {
      .max_tokens = options.batch_tokens, .max_sequences = options.batch, .seed = options.trainer.seed};
  TrainerOptions trainer = options.trainer;
  trainer.folder = folder;
  if (made.network)
    trainer.activation_bytes = activation_bytes(*made.network, options.batch_tokens, 0, trainer.recompute);
  trainer.fingerprint = run_fingerprint(options, {.model = made.config,
                                                  .tokenizer = fingerprint(tokenizer),
                                                  .files = files,
                                                  .from = fine_tuned ? transformer_in(options.from) : fs::path()});
  AnswerTrainingTask task(std::move(made.model), std::move(examples), split.validation, std::move(made.task));
  return train(task, trainer, observer);
}

}  // namespace attend
