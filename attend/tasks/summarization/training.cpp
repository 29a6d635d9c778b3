#include "attend/tasks/summarization/training.h"

#include <algorithm>
#include <array>

#include "attend/core/error.h"
#include "attend/core/wording.h"
#include "attend/data/tokenized_texts.h"
#include "attend/tasks/summarization/gap_sentence.h"
#include "attend/tasks/summarization/summarizer.h"
#include "attend/tasks/translation/text_pairs.h"
#include "attend/tasks/translation/trainable_translator.h"
#include "attend/tasks/translation/training_task.h"
#include "attend/tasks/translation/translation_model.h"
#include "attend/text/letter_case.h"
#include "attend/train/memory.h"
#include "attend/train/run.h"

namespace attend {
namespace {

using Tokenizers = TranslationTokenizers;

/// The fields of an example: those of TranslationTrainingTask, and one token if the text was cut.
constexpr std::int64_t kCutField = kFirstTargetField + 1, kSummaryFields = kCutField + 1;

Tokenizer tokenizer_of(const SummaryTrainingOptions& options, const TrainingObserver& observer) {
  if (!options.tokenizer.empty()) return load_tokenizer(options.tokenizer);
  if (!options.from.empty() && options.vocab_size == 0) return ModelFolder(options.from).tokenizer();
  return learn_subwords({.pairs = options.train}, {.vocab_size = options.vocab_size, .lowercase = options.lowercase},
                        observer);
}

TrainableTranslator make_model(const SummaryTrainingOptions& options, const Tokenizers& tokenizers) {
  TranslatorOptions model{.architecture = TranslatorArchitecture::transformer, .transformer = options.model};
  model.transformer.source_case = options.lowercase;
  return make_translator(model, tokenizers, std::max(options.max_source_tokens, options.max_tokens + 1),
                         options.trainer.seed);
}

/// How the texts of a run become examples.
struct SummaryEncoding {
  const Tokenizers& tokenizers;
  std::string prefix;
  std::int64_t max_source = 0, max_target = 0;
  bool gaps = false;
  std::int64_t case_step = 0;

  std::vector<std::int32_t> source(const std::string& text, bool& cut) const {
    const std::string whole = prefix + text;
    const Encoding encoding =
        tokenizers.source.encode(whole, {.max_tokens = max_source, .long_text = LongText::truncate});
    cut = encoding.dropped > 0;
    return ids_with_case(encoding, whole, case_step);
  }

  EncodedExample operator()(const Record& pair) const {
    bool cut = false, ignored = false;
    std::vector<std::int32_t> text = source(pair.source, cut), summary = tokenizers.target.ids(pair.target, true);
    if (text.size() < 2 || pair.source.empty() || summary.size() < 2 || std::ssize(summary) > max_target) return {};
    std::vector<std::int32_t> rest, sentence;
    if (gaps) {
      rest = text, sentence = summary;  // of a text with one sentence
      if (const std::optional<GapSentence> gap = gap_sentence(pair.source)) {
        rest = source(gap->rest, ignored);
        sentence =
            tokenizers.target.encode(gap->sentence, {.max_tokens = max_target, .long_text = LongText::truncate}).ids;
      }
    }
    const auto cut_field = cut ? std::vector<std::int32_t>{0} : std::vector<std::int32_t>{};
    return {{std::move(text), std::move(summary), std::move(rest), std::move(sentence), cut_field}};
  }
};

/// The examples of a file, in a file of the output folder.
ExampleStore stored_summaries(const std::filesystem::path& file, const SummaryEncoding& encoding,
                              const std::filesystem::path& path, const TrainingObserver& observer) {
  if (file.empty()) return {};
  Fingerprint sources;
  sources.add_file(file);
  sources.add(encoding.prefix), sources.add(static_cast<std::uint64_t>(encoding.max_source));
  sources.add(static_cast<std::uint64_t>(encoding.case_step));
  sources.add(static_cast<std::uint64_t>(encoding.max_target)), sources.add(std::uint64_t{encoding.gaps});
  std::filesystem::create_directories(path.parent_path());
  return stored_examples<Record>(
      {path,
       kSummaryFields,
       std::max(encoding.tokenizers.source.size(), encoding.tokenizers.target.size()) *
           (encoding.case_step > 0 ? kLetterCases : 1),
       {sources.value(), fingerprint(encoding.tokenizers.source)}},
      [&] { return open_pairs({.pairs = file}, observer.progress("Tokenizing")); }, encoding);
}

void warn_of_lengths(const ExampleStore& training, const ExampleStore& validation, const SummaryEncoding& encoding,
                     const TrainingObserver& observer) {
  std::int64_t cut = 0;
  for (const ExampleStore* store : {&training, &validation})
    if (store->size() > 0)
      for (const std::int32_t one : store->lengths(kCutField)) cut += one;
  if (cut > 0)
    observer.warn("cut: " + counted(cut, "text") + " longer than " + grouped(encoding.max_source) +
                  " tokens (--max-source-tokens)");
  if (const std::int64_t left_out = training.left_out() + validation.left_out(); left_out > 0)
    observer.warn("left out: " + counted(left_out, "pair") +
                  " with an empty text or summary, or a summary longer than " + grouped(encoding.max_target) +
                  " tokens (--max-tokens)");
}

/// ROUGE of greedy summaries.
std::function<Scores()> rouge_of(const TrainableTranslator& model, PairExcerpt excerpt,
                                 const SummaryEncoding& encoding) {
  for (std::string& source : excerpt.sources) source = encoding.prefix + source;
  const TranslateOptions options{.search = {.beam = 1, .max_new_tokens = encoding.max_target, .min_new_tokens = 0},
                                 .max_tokens = encoding.max_source,
                                 .long_text = LongText::truncate,
                                 .sentences = SentenceMode::whole,
                                 .batch_tokens = 4096};
  return [translator = model.translator, excerpt = std::move(excerpt), options]() -> Scores {
    std::vector<std::string> summaries;
    for (const auto& hypotheses : translator()(excerpt.sources, options)) summaries.push_back(hypotheses.front().text);
    Scores scores;
    for (const Rouge kind : {Rouge::longest, Rouge::one, Rouge::two}) {
      double sum = 0;
      for (const RougeScore& one :
           rouge_scores(kind, summaries, References{excerpt.targets}, {.stem = true, .unicode = true}))
        sum += one.f;
      scores.emplace_back(name_of(kind), sum / static_cast<double>(std::max<std::size_t>(summaries.size(), 1)));
    }
    return scores;
  };
}

void check_options(const SummaryTrainingOptions& options, const TransformerOptions& model) {
  if (options.coverage > 0 && !model.pointer)
    fail<InputError>("train", "the coverage loss is of the weights of a pointer, which this model does not have");
  if (options.gap_sentence_epochs > 0 && options.trainer.steps == 0 &&
      options.gap_sentence_epochs >= options.trainer.epochs)
    fail<InputError>("train", "no epoch is left to learn from summaries: got ", options.gap_sentence_epochs,
                     " epochs of gap sentences, and ", options.trainer.epochs, " in all");
}

}  // namespace

SummaryTrainingOptions SummaryTrainingOptions::finetune(std::filesystem::path from) {
  SummaryTrainingOptions options;
  options.from = std::move(from), options.vocab_size = 0, options.max_source_tokens = 512, options.max_tokens = 128;
  options.trainer = {.epochs = 5, .learning_rate = 5e-5, .warmup = 100, .patience = 3};
  return options;
}

TrainingResult train_summarizer(const SummaryTrainingOptions& options, const TrainingObserver& observer) {
  if (options.train.empty()) fail<InputError>("train", "there are no summaries to learn from: got no file");
  const std::vector<std::filesystem::path> files = {options.train, options.validation};
  const auto folder = check_run(options.trainer, options.from, files, observer);
  std::optional<TranslatorFolder> from;
  if (!options.from.empty()) from.emplace(options.from);
  if (from && from->architecture != TranslatorArchitecture::transformer)
    fail<InputError>("train", options.from.string(), ": holds a recurrent translator, expected a Transformer");
  check_options(options, from ? TransformerOptions::read(from->folder.config()) : options.model);
  const Tokenizers tokenizers = Tokenizers::of(tokenizer_of(options, observer));
  if (!tokenizers.source.languages().empty())
    fail<InputError>("train", "models with tokens for languages (M2M-100, mBART, NLLB) can be used, but not trained");
  const bool new_vocabulary = !options.tokenizer.empty() || options.vocab_size > 0;
  const std::uint64_t seed = options.trainer.seed;
  TrainableTranslator model =
      from ? continue_translator(*from, tokenizers, {new_vocabulary, options.dropout, options.lora, seed}, observer)
           : make_model(options, tokenizers);

  const auto limited = [&](std::int64_t tokens) {
    return model.max_length > 0 ? std::min(tokens, model.max_length) : tokens;
  };
  SummaryParameters parameters = from ? SummaryParameters::read(from->folder.config()) : SummaryParameters{};
  const SummaryEncoding encoding{tokenizers,
                                 options.source_prefix.value_or(parameters.prefix),
                                 limited(options.max_source_tokens),
                                 limited(options.max_tokens),
                                 options.gap_sentence_epochs > 0,
                                 model.case_step};
  parameters = {.prefix = encoding.prefix,
                .max_source_tokens = encoding.max_source,
                .max_new_tokens = encoding.max_target,
                .long_text = LongText::truncate,
                .candidates = options.candidates.value_or(parameters.candidates)};
  SearchOptions& search = model.generation->search;
  search.max_length = encoding.max_target + 1, search.max_new_tokens = 0;  // as in training, whatever the old model did
  search.rules.min_length = search.rules.min_new_tokens = 0, search.rules.no_repeat_ngram = 3;
  model.save = [save = model.save, parameters](const std::filesystem::path& saved) {
    save(saved);
    record_sentence_mode(saved, SentenceMode::whole);
    parameters.record(saved);
  };

  const std::filesystem::path& output = options.trainer.output;
  const ExampleStore training = stored_summaries(options.train, encoding, output / "train.tokens", observer);
  const ExampleStore validation =
      stored_summaries(options.validation, encoding, output / "validation.tokens", observer);
  warn_of_lengths(training, validation, encoding, observer);
  observer.info(counted(training.size(), "pair") + ", " + grouped(validation.size()) + " for validation, " +
                model.size);

  TrainerOptions trainer = options.trainer;
  trainer.folder = folder;
  trainer.activation_bytes = activation_bytes(*model.network, options.batch_tokens,
                                              static_cast<double>(tokenizers.target.size()), trainer.recompute);
  // Epochs of gap sentences do not raise the scores.
  if (trainer.patience > 0) trainer.patience += options.gap_sentence_epochs;
  TranslationTrainingTaskOptions task_options{.padding = needed_token("padding", tokenizers.source.special().padding),
                                              .label_smoothing = options.label_smoothing,
                                              .coverage = options.coverage,
                                              .first_epochs = options.gap_sentence_epochs,
                                              .batches = {.max_tokens = options.batch_tokens, .seed = seed}};
  PairExcerpt excerpt = read_excerpt({.pairs = options.validation}, options.validation_summaries);
  if (!excerpt.sources.empty()) {
    task_options.evaluate = rouge_of(model, std::move(excerpt), encoding);
    if (trainer.metric.empty()) trainer.metric = "rougeL";
  } else if (!trainer.metric.empty() && trainer.metric != "loss") {
    fail<InputError>("train", "there is nothing to summarize for ", trainer.metric,
                     ": got no validation texts, or --validation-summaries 0");
  }
  trainer.fingerprint = run_fingerprint(
      options,
      {.model = model.config, .tokenizer = fingerprint(tokenizers.source), .files = files, .from = options.from});
  TranslationTrainingTask task(model, training, validation, std::move(task_options));
  return train(task, trainer, observer);
}

}  // namespace attend
