#include "attend/tasks/translation/training.h"

#include <algorithm>
#include <memory>

#include "attend/core/error.h"
#include "attend/core/wording.h"
#include "attend/data/reader.h"
#include "attend/data/tokenized_texts.h"
#include "attend/metrics/bleu.h"
#include "attend/metrics/chrf.h"
#include "attend/tasks/translation/sentence_mode.h"
#include "attend/tasks/translation/training_task.h"
#include "attend/tasks/translation/translation_model.h"
#include "attend/text/training/train_sentencepiece.h"
#include "attend/train/run.h"

namespace attend {
namespace {

/// SentencePiece keeps its lines in memory. So many are enough for any vocabulary, and take a few hundred megabytes.
constexpr std::int64_t kLinesForSubwords = 1'000'000;

using Tokenizers = TranslationTokenizers;

/// Reads pairs one by one, and reports how far it is.
std::function<bool(Record&)> open_pairs(const PairFiles& files, const Progress& progress = {}) {
  std::shared_ptr<CorpusReader> reader =
      files.pairs.empty()
          ? read_parallel(TextStream::open(files.source), TextStream::open(files.target))
          : read_tsv(TextStream::open(files.pairs), {.source = "1", .target = "2", .required = "source TAB target"});
  return [reader, progress, any = false](Record& record) mutable {
    const bool more = reader->next(record);
    if (!more && !any) fail<InputError>("train", reader->name(), ": holds no pairs");
    any = true;
    if (progress) progress(reader->position(), 0);
    return more;
  };
}

/// The texts of one side, or of both sides in turn.
LineSource lines_of(const PairFiles& files, bool sources, bool targets, const Progress& progress) {
  return [next = open_pairs(files, progress), record = Record(), sources, targets,
          target_is_next = false](std::string& line) mutable {
    if (target_is_next) {
      line = record.target;
    } else {
      if (!next(record)) return false;
      line = sources ? record.source : record.target;
    }
    target_is_next = sources && targets && !target_is_next;
    return true;
  };
}

/// Learns subwords: one set for both sides together, or one for each (Marian's way).
Tokenizer learn_tokenizer(const TranslationTrainingOptions& options, TranslatorArchitecture architecture,
                          const TrainingObserver& observer) {
  const SentencePieceTrainingOptions subwords{
      .unigram = false, .vocab_size = options.vocab_size, .character_coverage = 1.0, .max_lines = kLinesForSubwords};
  const bool each = architecture == TranslatorArchitecture::transformer;
  observer.info("Learning " + grouped(options.vocab_size) + " subwords " + (each ? "of each side" : "from both sides"));
  const Progress progress = observer.progress("Reading");
  std::optional<Tokenizer> learned;
  const auto learn = [&] {
    learned = each ? train_sentencepiece_pair(lines_of(options.train, true, false, progress),
                                              lines_of(options.train, false, true, progress), subwords)
                   : train_sentencepiece(lines_of(options.train, true, true, progress), subwords);
  };
  observer.uninterrupted ? observer.uninterrupted(learn) : learn();
  return *learned;
}

Tokenizer make_tokenizer(const TranslationTrainingOptions& options, TranslatorArchitecture architecture,
                         const TrainingObserver& observer) {
  if (!options.tokenizer.empty()) return load_tokenizer(options.tokenizer);
  if (!options.from.empty() && options.vocab_size == 0) return ModelFolder(options.from).tokenizer();
  return learn_tokenizer(options, architecture, observer);
}

/// Sets the languages of a multilingual model. Throws InputError if the model does not have them, or if one is missing.
void choose_languages(Tokenizers& tokenizers, const TranslatorFolder& from, const TranslationTrainingOptions& options) {
  const TranslationModel model =
      in_languages(load_translation_model(from.folder), options.source_language, options.target_language);
  if (!model.source_language || !model.target_language || tokenizers.source.languages().empty()) return;
  const auto code = [&](std::int32_t id) {
    return std::ranges::find(model.source.languages().all, id, &LanguageTokens::Language::id)->code;
  };
  tokenizers =
      Tokenizers::of(with_languages(tokenizers.source, code(*model.source_language), code(*model.target_language)));
}

/// Pairs as ids, in a file of the output folder. Pairs that are empty or too long on a side are left out and counted.
ExampleStore stored_pairs(const PairFiles& files, const Tokenizers& tokenizers, std::int64_t max_length,
                          const std::filesystem::path& path, const TrainingObserver& observer) {
  if (!files.given()) return {};
  Fingerprint sources;
  for (const std::filesystem::path& file : files.all())
    if (!file.empty()) sources.add_file(file);
  sources.add(static_cast<std::uint64_t>(max_length));
  std::filesystem::create_directories(path.parent_path());
  const std::vector<std::int32_t> blank_source = tokenizers.source.ids("", true), blank_target = tokenizers.labels("");
  for (const std::int32_t id : tokenizers.labels("which language?")) sources.add(static_cast<std::uint64_t>(id));
  return stored_examples<Record>(
      {path,
       kPairFields,
       std::max(tokenizers.source.size(), tokenizers.target.size()),
       {sources.value(), fingerprint(tokenizers.source)}},
      [&] { return open_pairs(files, observer.progress("Tokenizing")); },
      [&](const Record& pair) -> EncodedExample {
        std::vector<std::int32_t> source = tokenizers.source.ids(pair.source, true),
                                  target = tokenizers.labels(pair.target);
        const auto fits = [&](const auto& side, const auto& blank) {
          return side.size() > blank.size() && std::ssize(side) <= max_length;
        };
        if (!fits(source, blank_source) || !fits(target, blank_target)) return {};
        return {{std::move(source), std::move(target)}};
      });
}

/// The first validation pairs, which are translated at each evaluation.
struct Excerpt {
  std::vector<std::string> sources, targets;
};
Excerpt read_excerpt(const PairFiles& files, std::int64_t count) {
  Excerpt excerpt;
  if (!files.given()) return excerpt;
  const std::function<bool(Record&)> next = open_pairs(files);
  for (Record record; std::ssize(excerpt.sources) < count && next(record);)
    excerpt.sources.push_back(record.source), excerpt.targets.push_back(record.target);
  return excerpt;
}

/// The first training sources decide whether the model is to be given sentences or whole texts.
SentenceMode sentence_mode_of(const PairFiles& files) {
  constexpr std::int64_t kTexts = 20'000;
  SentenceCounter counter;
  const std::function<bool(Record&)> next = open_pairs(files);
  for (Record record; counter.texts() < kTexts && next(record);) counter.add(record.source);
  return counter.mode();
}

/// BLEU and chrF of greedy translations. `longest` is a limit: a model that has learned little finds no end.
std::function<Scores()> scores_of(const TrainableTranslator& model, Excerpt excerpt, std::int64_t longest,
                                  SentenceMode sentences) {
  return [translator = model.translator, excerpt = std::move(excerpt), longest, sentences]() -> Scores {
    std::vector<std::string> translations;
    const TranslateOptions options{.search = {.beam = 1, .max_new_tokens = longest}, .sentences = sentences};
    for (auto& hypotheses : translator()(excerpt.sources, options))
      translations.push_back(std::move(hypotheses.front().text));
    const References references{excerpt.targets};
    return {{"bleu", corpus_bleu(translations, references).score}, {"chrf", corpus_chrf(translations, references)}};
  };
}

}  // namespace

TranslationTrainingOptions TranslationTrainingOptions::finetune(std::filesystem::path from) {
  TranslationTrainingOptions options;
  options.from = std::move(from), options.vocab_size = 0;
  options.trainer = {.epochs = 5, .learning_rate = 2e-4, .warmup = 100, .patience = 3};
  return options;
}

TrainingResult train_translation(const TranslationTrainingOptions& options, const TrainingObserver& observer) {
  if (!options.train.given()) fail<InputError>("train", "there are no pairs to learn from: got no file");
  std::vector<std::filesystem::path> files = options.train.all();
  std::ranges::copy(options.validation.all(), std::back_inserter(files));
  const auto folder = check_run(options.trainer, options.from, files, observer);
  std::optional<TranslatorFolder> from;
  if (!options.from.empty()) from.emplace(options.from);
  const TranslatorArchitecture architecture = from ? from->architecture : options.model.architecture;
  const bool new_vocabulary = !options.tokenizer.empty() || options.vocab_size > 0;
  Tokenizers tokenizers = Tokenizers::of(make_tokenizer(options, architecture, observer));
  if (from) choose_languages(tokenizers, *from, options);
  if (new_vocabulary && !tokenizers.source.languages().empty())
    fail<InputError>("train", "a tokenizer with tokens for languages (M2M-100, mBART, NLLB) can be used only with its ",
                     "own model, in fine-tuning: got the tokenizer of ", options.tokenizer.string());
  const std::uint64_t seed = options.trainer.seed;
  TrainableTranslator model =
      from ? continue_translator(*from, tokenizers, new_vocabulary, options.dropout, seed, observer)
           : make_translator(options.model, tokenizers, options.max_length, seed);

  const SentenceMode sentences = model.whole_texts ? SentenceMode::whole : sentence_mode_of(options.train);
  model.save = [save = model.save, sentences](const std::filesystem::path& folder) {
    save(folder);
    record_sentence_mode(folder, sentences);
  };
  const std::int64_t max_length =
      model.max_length > 0 ? std::min(options.max_length, model.max_length) : options.max_length;
  const std::filesystem::path& output = options.trainer.output;
  const ExampleStore training = stored_pairs(options.train, tokenizers, max_length, output / "train.tokens", observer);
  const ExampleStore validation =
      stored_pairs(options.validation, tokenizers, max_length, output / "validation.tokens", observer);
  if (const std::int64_t left_out = training.left_out() + validation.left_out(); left_out > 0)
    observer.warn("left out: " + counted(left_out, "pair") + " that are empty, or longer than " + grouped(max_length) +
                  " tokens (--max-length)");
  observer.info(counted(training.size(), "pair") + ", " + grouped(validation.size()) + " for validation, " +
                grouped(model.size) + " parameters");

  TrainerOptions trainer = options.trainer;
  trainer.folder = folder;
  TranslationTrainingTaskOptions task_options{.padding = needed_token("padding", tokenizers.source.special().padding),
                                              .label_smoothing = options.label_smoothing,
                                              .batches = {.max_tokens = options.batch_tokens, .seed = seed}};
  Excerpt excerpt = read_excerpt(options.validation, options.validation_sentences);
  if (!excerpt.sources.empty()) {
    std::int64_t longest = 0;
    for (const std::int32_t length : validation.lengths(kSourceField))
      longest = std::max<std::int64_t>(longest, length);
    task_options.evaluate = scores_of(model, std::move(excerpt), 20 + 2 * longest, sentences);
    if (trainer.metric.empty()) trainer.metric = "bleu";
  } else if (!trainer.metric.empty() && trainer.metric != "loss") {
    fail<InputError>("train", "there is nothing to translate for ", trainer.metric,
                     ": got no validation pairs, or --validation-sentences 0");
  }
  trainer.fingerprint = run_fingerprint(
      options,
      {.model = model.config, .tokenizer = fingerprint(tokenizers.source), .files = files, .from = options.from});
  TranslationTrainingTask task(model, training, validation, std::move(task_options));
  return train(task, trainer, observer);
}

}  // namespace attend
