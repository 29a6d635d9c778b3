#include "attend/tasks/masked_lm/training.h"

#include <algorithm>
#include <deque>
#include <memory>

#include "attend/core/error.h"
#include "attend/core/wording.h"
#include "attend/data/text_stream.h"
#include "attend/models/registry.h"
#include "attend/tasks/embedding/sentence_folder.h"
#include "attend/tasks/encoder/bert_training.h"
#include "attend/tasks/masked_lm/training_task.h"
#include "attend/text/sentences.h"
#include "attend/text/training/train_wordpiece.h"
#include "attend/train/memory.h"
#include "attend/train/run.h"

namespace attend {
namespace {

using Options = MaskedLmTrainingOptions;
using Files = std::vector<std::filesystem::path>;

constexpr std::int64_t kMaxTokens = 128;  // the default length of an example

/// A sentence. An empty string marks the beginning of a document.
using SentenceText = std::string;
using SentenceSource = std::function<bool(SentenceText&)>;

/// Reads the sentences of all files. Each document begins with an empty string.
SentenceSource open_sentences(const Files& files, DocumentEnd end, const Progress& progress = {}) {
  struct State {
    Files files;
    std::size_t next_file = 0;
    std::function<bool(std::string&)> lines;
    bool inside_document = false;
    std::deque<SentenceText> ready;
  };
  const auto state = std::make_shared<State>(State{files, 0, {}, false, {}});
  return [state, end, progress](SentenceText& sentence) {
    for (std::string line; state->ready.empty();) {
      if (!state->lines || !state->lines(line)) {
        if (state->next_file == state->files.size()) return false;
        state->lines = lines_of({state->files[state->next_file++]}, progress);
        state->inside_document = false;
        continue;
      }
      const std::vector<Span> spans = sentences(line);
      if (end == DocumentEnd::line || (spans.empty() && end == DocumentEnd::empty_line)) state->inside_document = false;
      if (spans.empty()) continue;
      if (!state->inside_document) state->ready.emplace_back();
      state->inside_document = true;
      for (const Span& span : spans)
        state->ready.push_back(
            line.substr(static_cast<std::size_t>(span.begin), static_cast<std::size_t>(span.end - span.begin)));
    }
    sentence = std::move(state->ready.front());
    state->ready.pop_front();
    return true;
  };
}

/// The number of all documents, and of those with fewer than two sentences.
struct DocumentCount {
  std::int64_t all = 0, short_ones = 0;
};

/// Reads sentences and counts their documents.
class CountedSentences {
 public:
  explicit CountedSentences(SentenceSource source) : source_(std::move(source)) {}

  /// The next sentence. Skips the marks of documents.
  bool next(SentenceText& sentence) {
    while (source_(sentence)) {
      if (!sentence.empty()) {
        if (++sentences_ == 2) --count_.short_ones;
        return true;
      }
      ++count_.all, ++count_.short_ones, sentences_ = 0;
    }
    return false;
  }
  /// Reads the rest and returns the count of all documents.
  DocumentCount count() {
    for (SentenceText sentence; next(sentence);) {
    }
    return count_;
  }

 private:
  SentenceSource source_;
  DocumentCount count_;
  std::int64_t sentences_ = 0;  // of the current document
};

/// Throws InputError if there is no text, or if next-sentence prediction is impossible: it needs at least two
/// documents, and documents with at least two sentences. Warns about documents that are left out.
void check_documents(const DocumentCount& count, const std::string& path, bool next_sentence,
                     const TrainingObserver& observer) {
  constexpr const char* kHint = "; add --no-next-sentence, or see --documents";
  if (count.all == 0) fail<InputError>("train", path, ": holds no text");
  if (!next_sentence) return;
  if (count.short_ones == count.all)
    fail<InputError>("train", path, ": no document has two sentences, which next-sentence prediction needs", kHint);
  if (count.all == 1)
    fail<InputError>("train", path, ": is one document, but next-sentence prediction needs at least two", kHint);
  if (count.short_ones > 0)
    observer.warn(path + ": " + grouped(count.short_ones) + " of " + grouped(count.all) +
                  " documents have only one sentence and are left out; --no-next-sentence uses them");
}

Tokenizer learn_tokenizer(const Options& options, CountedSentences& sentences, const TrainingObserver& observer) {
  observer.info("Learning " + grouped(options.vocab_size) + " subwords");
  Tokenizer tokenizer = train_wordpiece([&](std::string& line) { return sentences.next(line); },
                                        {.vocab_size = options.vocab_size, .lowercase = options.lowercase},
                                        observer.progress("Merging", "tokens"));
  if (tokenizer.size() < options.vocab_size)
    observer.info("The text has only " + grouped(tokenizer.size()) + " subwords");
  return tokenizer;
}

PreTrainingExamples stored_texts(const Options& options, const Files& files, const char* name,
                                 const Tokenizer& tokenizer, const ExampleOptions& examples,
                                 const TrainingObserver& observer) {
  if (files.empty()) return {};
  Fingerprint sources;
  for (const std::filesystem::path& file : files) sources.add_file(file);
  sources.add(static_cast<std::uint64_t>(options.document_end));
  std::filesystem::create_directories(options.trainer.output);
  const std::filesystem::path path = options.trainer.output / name;
  stored_examples<SentenceText>(
      {path, 1, 2 * tokenizer.size(), {sources.value(), fingerprint(tokenizer)}},
      [&] { return open_sentences(files, options.document_end, observer.progress("Tokenizing")); },
      [&](const SentenceText& text) -> EncodedExample {
        if (text.empty()) return {{{}}};
        std::vector<std::int32_t> ids =
            SentenceStore::packed(to_sentence(tokenizer.encode(text, {.special_tokens = false})));
        if (ids.empty()) return {};
        return {{std::move(ids)}};
      });
  PreTrainingExamples made(SentenceStore(TokenStore(path)), examples);
  if (made.size() == 0)
    fail<InputError>("train", files.front().string(), ": is too short for an example of ", examples.max_tokens,
                     " tokens");
  return made;
}

std::int32_t special_id(const std::optional<std::int32_t>& id, const char* what) {
  if (!id) fail<InputError>("train", "the tokenizer has no ", what, " token, which masked language models need");
  return *id;
}

/// `initialised`: the names of weights that the folder does not have.
Bert make_model(const Options& options, const std::filesystem::path& from, const Tokenizer& tokenizer,
                const TrainingObserver& observer, std::vector<std::string>& initialised) {
  const BertHead head = options.next_sentence ? BertHead::pre_training : BertHead::masked_lm;
  if (!from.empty()) {
    warn_of_weights(Weights(from), observer);
    Bert model = load_bert(from, {.head = head, .mapped = options.lora.on(), .initialised = &initialised});
    if (model.options.vocabulary < tokenizer.size())
      fail<InputError>("finetune", from.string(), ": the model has ", model.options.vocabulary,
                       " tokens, but its tokenizer has ", tokenizer.size());
    if (!initialised.empty())
      observer.warn("the model lacks these weights, which start from random values: " + listed(initialised));
    return model;
  }
  BertOptions o = options.model;
  o.head = head;
  o.vocabulary = tokenizer.size();
  o.padding = special_id(tokenizer.special().padding, "padding");
  o.positions = options.max_tokens > 0 ? options.max_tokens : kMaxTokens;
  o.attention_dropout = o.head_dropout = o.dropout;
  Generator generator(options.trainer.seed);
  return Bert(o, generator);
}

}  // namespace

BertOptions Options::small_bert() {
  BertOptions options;
  options.width = 256, options.layers = 4, options.heads = 4, options.inner = 1024;
  return options;
}

Options Options::finetune(std::filesystem::path from) {
  Options options;
  options.from = std::move(from), options.next_sentence = false;
  options.trainer = {.epochs = 3, .learning_rate = 5e-5, .warmup = 100};
  return options;
}

TrainingResult train_masked_lm(const Options& options, const TrainingObserver& observer) {
  if (options.train.empty()) fail<InputError>("train", "there are no training files");
  Files files = options.train;
  std::ranges::copy(options.validation, std::back_inserter(files));
  const auto folder = check_run(options.trainer, options.from, files, observer);
  const std::filesystem::path from = options.from.empty() ? options.from : transformer_in(options.from);
  CountedSentences sentences(open_sentences(options.train, options.document_end, observer.progress("Reading")));
  const auto check_validation = [&] {
    if (options.validation.empty()) return;
    CountedSentences held_out(open_sentences(options.validation, options.document_end));
    check_documents(held_out.count(), options.validation.front().string(), options.next_sentence, observer);
  };
  const Tokenizer tokenizer = !options.tokenizer.empty() ? load_tokenizer(options.tokenizer)
                              : !from.empty()            ? ModelFolder(from).tokenizer()
                                                         : learn_tokenizer(options, sentences, observer);
  const DocumentCount documents = sentences.count();
  check_documents(documents, options.train.front().string(), options.next_sentence, observer);
  check_validation();
  std::vector<std::string> initialised;
  Bert model = make_model(options, from, tokenizer, observer, initialised);
  const std::int64_t room = model.options.max_tokens();
  const std::int64_t max_tokens = options.max_tokens > 0 ? options.max_tokens : std::min(kMaxTokens, room);
  if (max_tokens > room)
    fail<InputError>("train", "--max-tokens is ", max_tokens, ", but the model has positions for ", room);

  const SpecialTokens& special = tokenizer.special();
  MaskingOptions masking = options.masking;
  masking.mask = special_id(special.mask, "mask");
  for (std::int32_t id = 0; id < static_cast<std::int32_t>(tokenizer.size()); ++id)
    if (!tokenizer.is_special(id)) masking.random_ids.push_back(id);
  const ExampleOptions example_options{
      .max_tokens = max_tokens,
      .next_sentence = options.next_sentence,
      .classify = special_id(special.classify ? special.classify : special.bos, "first"),
      .separator = special_id(special.separator ? special.separator : special.eos, "separator"),
      .seed = options.trainer.seed};
  PreTrainingExamples training =
      stored_texts(options, options.train, "train.tokens", tokenizer, example_options, observer);
  PreTrainingExamples validation =
      stored_texts(options, options.validation, "validation.tokens", tokenizer, example_options, observer);
  std::vector<std::string> saved;  // a head that the folder does not have
  if (!initialised.empty()) saved = head_modules(model, initialised);
  const AdapterInfo adapter = AdapterInfo::of(options.lora, from, "", std::move(saved));
  const std::vector<NamedTensor> trained =
      prepare_fine_tuning(model, {.adapter = adapter, .seed = options.trainer.seed});
  observer.info(counted(documents.all, "document") + ", " + counted(training.size(), "example") + ", " +
                grouped(validation.size()) + " for validation, " +
                parameters_to_train(trained, count_parameters(model), options.lora.on()));
  TrainerOptions trainer = options.trainer;
  trainer.folder = folder;
  trainer.activation_bytes = activation_bytes(
      model, options.batch_tokens,
      2 * static_cast<double>(masking.share) * static_cast<double>(model.options.vocabulary), trainer.recompute);
  trainer.fingerprint = run_fingerprint(
      options, {.model = model.config().dump(), .tokenizer = fingerprint(tokenizer), .files = files, .from = from});
  PreTrainingTask task(model, trained,
                       [&](const std::filesystem::path& folder) {
                         options.lora.on() ? save_adapter(model, adapter, folder)
                                           : save_model(model, tokenizer, folder);
                       },
                       std::move(training), std::move(validation),
                       {.masking = masking, .batches = {.max_tokens = options.batch_tokens, .seed = trainer.seed}});
  return train(task, trainer, observer);
}

}  // namespace attend
