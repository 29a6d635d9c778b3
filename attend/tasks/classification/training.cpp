#include "attend/tasks/classification/training.h"

#include <algorithm>
#include <map>

#include "attend/core/error.h"
#include "attend/core/wording.h"
#include "attend/data/tokenized_texts.h"
#include "attend/models/bert.h"
#include "attend/models/causal_lm.h"
#include "attend/models/registry.h"
#include "attend/ops/embedding.h"
#include "attend/ops/tape.h"
#include "attend/tasks/classification/encode_parts.h"
#include "attend/tasks/classification/training_task.h"
#include "attend/tasks/classification/word_vectors.h"
#include "attend/tasks/embedding/sentence_folder.h"
#include "attend/tasks/encoder/bert_training.h"
#include "attend/tasks/encoder/pack.h"
#include "attend/text/training/train_words.h"
#include "attend/train/memory.h"
#include "attend/train/run.h"

namespace attend {
namespace {

using Options = ClassificationTrainingOptions;
using Labels = std::vector<std::string>;

/// All labels of the training texts, sorted.
Labels learned_labels(const Options& options, const TrainingObserver& observer) {
  const std::set<std::string> labels = labels_in(options.train, options.columns, observer.progress("Reading"));
  if (labels.empty()) fail<InputError>("labels", options.train.string(), ": no text has a label");
  if (labels.size() == 1 && options.columns.separator.empty())
    fail<InputError>("labels", options.train.string(), ": all texts have the label \"", *labels.begin(),
                     "\", expected at least two different labels");
  if (!options.validation.empty())
    for (const std::string& label : labels_in(options.validation, options.columns))
      if (!labels.contains(label))
        fail<InputError>("labels", options.validation.string(), ": has the label \"", label,
                         "\", which no training text has");
  return {labels.begin(), labels.end()};
}

/// More parts of a text than there are in any book.
constexpr std::int64_t kMostParts = 1 << 20;

/// A model for training, its tokenizer, and how it encodes texts.
struct Prepared {
  TrainableClassifier model;
  Labels labels;
  Tokenizer tokenizer;
  std::string config;                                   ///< the options of the model, as JSON
  std::int64_t parameters = 0;                          ///< the number of all parameters, including frozen ones
  std::function<Encoding(const LabelledText&)> encode;  ///< encodes a text or a pair
  bool types = false;                                   ///< the model needs token types
  std::int64_t max_tokens = 0;                          ///< longer texts are truncated; 0: no limit
  ClassifierTrainingTaskOptions task = {};              ///< with the special tokens
  std::shared_ptr<Model> network = {};                  ///< the model, for the estimate of memory
};

/// Tokenises the texts of a file into a store in the output folder.
ExampleStore stored_texts(const Options& options, const Prepared& made, const std::filesystem::path& file,
                          const char* name, const TrainingObserver& observer) {
  if (file.empty()) return {};
  std::map<std::string, std::int32_t> places;
  Fingerprint sources;
  sources.add_file(file).add(static_cast<std::uint64_t>(made.max_tokens)).add(made.types ? 1 : 0);
  OptionFingerprint{sources}("columns", options.columns);
  for (const std::string& label : made.labels) {
    places.emplace(label, static_cast<std::int32_t>(places.size()));
    sources.add(label);
  }
  std::filesystem::create_directories(options.trainer.output);
  return stored_examples<LabelledText>(
      {options.trainer.output / name,
       made.types ? 3 : 2,
       std::max({made.tokenizer.size(), std::ssize(made.labels), made.types ? kMostParts : 0}),
       {sources.value(), fingerprint(made.tokenizer)}},
      [&]() -> std::function<bool(LabelledText&)> {
        auto reader = std::make_shared<LabelledReader>(file, options.columns, observer.progress("Tokenizing"));
        return [reader](LabelledText& text) { return reader->next(text); };
      },
      [&](const LabelledText& text) {
        Encoding encoding = made.encode(text);
        EncodedExample example{{std::move(encoding.ids), {}}, encoding.dropped > 0};
        for (const std::string& label : text.labels) example.fields[kLabelField].push_back(places.at(label));
        if (made.types) example.fields.push_back(std::move(encoding.types));
        return example;
      });
}

// ---- networks that are trained from random weights, and GPT-2 ----

/// The vocabulary has the words of the texts, and those of the word vectors.
Tokenizer make_tokenizer(const Options& options, const TrainingObserver& observer) {
  if (!options.tokenizer.empty()) return load_tokenizer(options.tokenizer);
  LabelledReader reader(options.train, options.columns, observer.progress("Reading"));
  std::vector<std::string> more;
  if (!options.vectors.empty())
    for_each_vector_word(options.vectors, [&](const std::string& word) { more.push_back(word); });
  return train_words(
      [&, text = LabelledText(), next = more.begin()](std::string& line) mutable {
        if (next == more.begin() && reader.next(text)) {
          line = text.second.empty() ? text.text : text.text + "\n" + text.second;
          return true;
        }
        if (next == more.end()) return false;
        line = *next++;
        return true;
      },
      {.vocab_size = options.vocab_size,
       .min_frequency = options.min_frequency,
       .lowercase = options.lowercase,
       .append_eos = false});
}

/// Throws InputError unless the data are pairs for a network that reads pairs, and single texts for another.
void check_pairs(const TextClassifier& network, const Options& options) {
  const bool pairs = network.parts() == TextParts::pair;
  if (pairs && options.columns.pair.empty())
    fail<InputError>("train", "this network reads pairs of texts: give the column of the second text (--pair-column)");
  if (!pairs && !options.columns.pair.empty())
    fail<InputError>("train", "this network reads single texts; pairs of texts (--pair-column) need one for pairs, ",
                     "or an encoder to fine-tune");
}

/// Saves the model, or the adapter that was trained.
SaveModel save_of(const std::shared_ptr<Model>& model, const Tokenizer& tokenizer, const AdapterInfo& adapter) {
  return [=](const std::filesystem::path& folder) {
    adapter.lora.on() ? save_adapter(*model, adapter, folder) : save_model(*model, tokenizer, folder);
  };
}

Prepared prepared_network(const std::shared_ptr<TextClassifier>& network, const Tokenizer& tokenizer,
                          std::int64_t max_tokens, bool fixed_words) {
  network->train_all();
  if (fixed_words) network->words().weight = network->words().weight.detach();
  std::vector<NamedTensor> trained = network->stored_parameters();
  std::int64_t parameters = 0;
  for (const NamedTensor& parameter : trained) parameters += parameter.tensor.numel();
  std::erase_if(trained, [](const NamedTensor& parameter) { return !requires_grad(parameter.tensor); });
  return {.model = {.parameters = std::move(trained),
                    .logits =
                        [network](const TokenBatch& texts, const Tensor& parts) {
                          return network->logits({texts.ids, texts.lengths, parts});
                        },
                    .save = [network, tokenizer](
                                const std::filesystem::path& folder) { save_model(*network, tokenizer, folder); }},
          .labels = network->labels(),
          .tokenizer = tokenizer,
          .config = network->config().dump(),
          .parameters = parameters,
          .encode =
              [network, tokenizer, limit = EncodeOptions{.max_tokens = max_tokens, .long_text = LongText::truncate}](
                  const LabelledText& text) {
                return encode_parts(
                    tokenizer, *network, text.text,
                    network->parts() == TextParts::pair ? std::optional<std::string_view>(text.second) : std::nullopt,
                    limit);
              },
          .types = network->parts() != TextParts::whole,
          .max_tokens = max_tokens,
          .task = {.padding = tokenizer.special().padding.value_or(0),
                   .unknown = tokenizer.special().unknown.value_or(-1)}};
}

Prepared prepared_gpt2(const std::shared_ptr<CausalLm>& model, const Tokenizer& tokenizer, std::int64_t max_tokens,
                       const Options& options) {
  const AdapterInfo adapter = AdapterInfo::of(options.lora, options.from, "SEQ_CLS", {"score"});
  std::vector<NamedTensor> trained;
  if (options.lora.on()) {
    Generator generator(options.trainer.seed);
    trained = train_adapters(*model, adapter, generator);
  } else {
    train_parameters(*model);
    trained = parameters(*model);
  }
  const auto logits = [model](const TokenBatch& texts, const Tensor&) {
    const Tensor states = model->states(texts.ids);  // [B, T, width]
    const std::int64_t B = states.dim(0), T = states.dim(1);
    std::vector<std::int32_t> last;
    for (std::int64_t b = 0; b < B; ++b)
      last.push_back(static_cast<std::int32_t>(b * T) + texts.lengths.data<std::int32_t>()[b] - 1);
    return model->labels(embedding(states.reshape({B * T, states.dim(2)}), Tensor::ids(last, {B})));
  };
  return {
      .model = {.parameters = std::move(trained), .logits = logits, .save = save_of(model, tokenizer, adapter)},
      .labels = model->options.labels,
      .tokenizer = tokenizer,
      .config = model->config().dump(),
      .parameters = count_parameters(*model),
      .encode =
          [tokenizer, end = model->options.end(),
           limit = EncodeOptions{.max_tokens = max_tokens, .long_text = LongText::truncate}](const LabelledText& text) {
            Encoding encoding = tokenizer.encode(text.text, limit);
            if (encoding.ids.empty()) encoding.ids.push_back(end);
            return encoding;
          },
      .max_tokens = max_tokens,
      .task = {.padding = tokenizer.special().padding.value_or(0),
               .unknown = tokenizer.special().unknown.value_or(-1)}};
}

Prepared new_classifier(const Options& options, const TrainingObserver& observer) {
  const Labels labels = learned_labels(options, observer);
  const Tokenizer tokenizer = make_tokenizer(options, observer);
  Generator generator(options.trainer.seed);
  const std::shared_ptr<TextClassifier> network = std::visit(
      [&]<typename NetworkOptions>(NetworkOptions o) -> std::shared_ptr<TextClassifier> {
        o.labels = labels, o.vocabulary = tokenizer.size();
        return std::make_shared<typename NetworkOptions::Network>(o, generator);
      },
      options.network);
  check_pairs(*network, options);
  if (!options.vectors.empty()) {
    const std::int64_t found = read_word_vectors(options.vectors, tokenizer, network->words().weight);
    observer.info("word vectors: " + grouped(found) + " of " + counted(tokenizer.size(), "word") + " are in " +
                  options.vectors.string());
  }
  return prepared_network(network, tokenizer, options.max_tokens, options.fixed_vectors);
}

// ---- a model that is trained further ----

void warn_of_new_head(const Labels& own, const TrainingObserver& observer) {
  observer.warn("the model's head is for other labels (" + listed(own) + "), and starts from random weights");
}

/// Keeps the head of a model where the labels are the same, in any order; otherwise the model gets a new head.
void fit_head(Linear& head, Labels& own, const Labels& labels, std::uint64_t seed, const TrainingObserver& observer) {
  if (std::ranges::is_permutation(own, labels)) return;
  warn_of_new_head(own, observer);
  Generator generator(seed);
  head = Linear(head.in(), std::ssize(labels), head.bias.defined(), generator);
  own = labels;
}

/// Continues the training of a recurrent classifier, or of a GPT-2 classifier.
Prepared continued_classifier(const ModelFolder& folder, const Options& options, const TrainingObserver& observer) {
  folder.require("finetune", Ability::classify);
  if (!options.columns.separator.empty() || options.frozen_layers > 0)
    fail<InputError>("finetune", folder.path().string(), ": is not of BERT's family; only that takes several labels ",
                     "(--several-labels), and layers that stay as they are (--freeze)");
  const Labels labels = learned_labels(options, observer);
  warn_of_weights(folder.weights(), observer);
  const std::shared_ptr<Model> model = options.lora.on() ? folder.model()->share() : folder.load();
  if (const auto gpt2 = std::dynamic_pointer_cast<CausalLm>(model)) {
    CausalLmOptions& o = gpt2->options;
    if (!options.columns.pair.empty())
      fail<InputError>("finetune", folder.path().string(),
                       ": a language model reads single texts, not pairs (--pair-column)");
    if (o.several_labels)
      fail<InputError>("finetune", folder.path().string(), ": gives texts any number of labels, expected one each");
    fit_head(gpt2->labels, o.labels, labels, options.trainer.seed, observer);
    if (options.dropout) {
      o.dropout = o.embedding_dropout = o.attention_dropout = *options.dropout;
      gpt2->decoder.set_dropout(*options.dropout, *options.dropout);
    }
    return prepared_gpt2(gpt2, folder.tokenizer(),
                         options.max_tokens > 0 ? std::min(options.max_tokens, o.positions) : o.positions, options);
  }
  if (options.lora.on())
    fail<InputError>("finetune", folder.path().string(), ": --lora is for Transformers, expected an encoder or GPT-2");
  const auto network = std::dynamic_pointer_cast<TextClassifier>(model);
  if (!network) fail<InputError>("finetune", folder.path().string(), ": this kind of classifier cannot be trained");
  check_pairs(*network, options);
  if (!std::ranges::is_permutation(network->labels(), labels)) {
    warn_of_new_head(network->labels(), observer);
    Generator generator(options.trainer.seed);
    network->set_labels(labels, generator);
  }
  if (options.dropout) network->set_dropout(*options.dropout);
  return prepared_network(network, folder.tokenizer(), options.max_tokens, false);
}

Prepared tuned_classifier(const Options& options, const TrainingObserver& observer) {
  const std::filesystem::path from = transformer_in(options.from);
  if (const ModelFolder folder(from); !folder.can(Ability::embed))
    return continued_classifier(folder, options, observer);
  const bool several_labels = !options.columns.separator.empty();
  const Labels labels = learned_labels(options, observer);
  warn_of_weights(Weights(from), observer);
  const Tokenizer tokenizer = ModelFolder(from).tokenizer();
  std::vector<std::string> initialised;
  default_generator().restore(options.trainer.seed, 0);
  const auto model = std::make_shared<Bert>(load_bert(from, {.head = BertHead::sequence_classification,
                                                             .labels = labels,
                                                             .several_labels = several_labels,
                                                             .mapped = options.lora.on(),
                                                             .initialised = &initialised}));
  if (const BertOptions own = BertOptions::read(Config(from / "config.json"));
      own.head == BertHead::sequence_classification && !initialised.empty())
    warn_of_new_head(own.labels, observer);
  const AdapterInfo adapter = AdapterInfo::of(options.lora, from, "SEQ_CLS", head_modules(*model, initialised));
  std::vector<NamedTensor> trained =
      prepare_fine_tuning(*model, {options.dropout, options.frozen_layers, adapter, options.trainer.seed});

  const BertOptions& o = model->options;
  const std::int64_t max_tokens =
      options.max_tokens > 0 ? std::min(options.max_tokens, o.max_tokens()) : o.max_tokens();
  const bool pairs = !options.columns.pair.empty();
  const SpecialTokens& special = tokenizer.special();
  ClassifierTrainingTaskOptions task{.padding = o.padding,
                                     .unknown = special.mask.value_or(special.unknown.value_or(-1))};
  for (const auto& id : {special.classify, special.separator, special.bos, special.eos})
    if (id) task.never_dropped.push_back(*id);
  return {.model = {.parameters = std::move(trained),
                    .logits =
                        [model](const TokenBatch& texts, const Tensor& types) {
                          const BertInput input = pack(texts, types);
                          return model->label_texts(model->encode(input), input.lengths);
                        },
                    .save = save_of(model, tokenizer, adapter)},
          .labels = o.labels,
          .tokenizer = tokenizer,
          .config = model->config().dump(),
          .parameters = count_parameters(*model),
          .encode =
              [tokenizer, pairs, limit = EncodeOptions{.max_tokens = max_tokens, .long_text = LongText::truncate}](
                  const LabelledText& text) {
                return pairs ? tokenizer.encode_pair(text.text, text.second, limit)
                             : tokenizer.encode(text.text, limit);
              },
          .types = o.types > 1 && pairs,
          .max_tokens = max_tokens,
          .task = std::move(task),
          .network = model};
}

}  // namespace

Options Options::finetune(std::filesystem::path from) {
  Options options;
  options.from = std::move(from);
  options.batch = 32, options.word_dropout = 0.f;
  options.trainer = {
      .epochs = 4, .learning_rate = 5e-5, .schedule = Schedule::Kind::linear, .warmup = 50, .patience = 3};
  return options;
}

TrainingResult train_classification(const Options& options, const TrainingObserver& observer) {
  const bool several_labels = !options.columns.separator.empty();
  if (options.balanced && several_labels) fail<InputError>("train", "--balanced needs texts with one label each");
  const bool fine_tuned = !options.from.empty();
  if (!fine_tuned && several_labels) fail<InputError>("train", "several labels per text need an encoder to fine-tune");
  const auto folder =
      check_run(options.trainer, options.from, {options.train, options.validation, options.vectors}, observer);
  Prepared made = fine_tuned ? tuned_classifier(options, observer) : new_classifier(options, observer);
  const ExampleStore training = stored_texts(options, made, options.train, "train.tokens", observer);
  const ExampleStore validation = stored_texts(options, made, options.validation, "validation.tokens", observer);
  if (const std::int64_t cut = training.left_out() + validation.left_out(); cut > 0)
    observer.warn("cut: " + counted(cut, "text") + " longer than " + counted(made.max_tokens, "token"));
  observer.info(counted(training.size(), "text") + ", " + grouped(validation.size()) + " for validation, " +
                counted(std::ssize(made.labels), "label") + " (" + listed(made.labels) + "), " +
                (fine_tuned
                     ? parameters_to_train(made.model.parameters, made.parameters, options.lora.on())
                     : counted(made.tokenizer.size(), "word") + ", " + grouped(made.parameters) + " parameters"));

  made.task.word_dropout = options.word_dropout;
  made.task.label_smoothing = options.label_smoothing;
  made.task.consistency = options.consistency;
  made.task.several_labels = several_labels;
  made.task.types = made.types;
  if (options.balanced) made.task.label_weights = balanced_weights(training, made.labels.size());
  made.task.batches = {
      .max_tokens = options.batch_tokens, .max_sequences = options.batch, .seed = options.trainer.seed};
  TrainerOptions trainer = options.trainer;
  trainer.folder = folder;
  if (made.network)
    trainer.activation_bytes = activation_bytes(*made.network, options.batch_tokens, 0, trainer.recompute);
  trainer.fingerprint =
      run_fingerprint(options, {.model = made.config,
                                .tokenizer = fingerprint(made.tokenizer),
                                .files = {options.train, options.validation, options.vectors},
                                .from = fine_tuned ? transformer_in(options.from) : std::filesystem::path()});
  ClassifierTrainingTask task(std::move(made.model), std::ssize(made.labels), training, validation,
                              std::move(made.task));
  return train(task, trainer, observer);
}

}  // namespace attend
