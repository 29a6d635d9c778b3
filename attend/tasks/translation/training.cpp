#include "attend/tasks/translation/training.h"

#include <algorithm>

#include "attend/core/error.h"
#include "attend/core/wording.h"
#include "attend/data/reader.h"
#include "attend/data/tokenized_texts.h"
#include "attend/metrics/bleu.h"
#include "attend/metrics/chrf.h"
#include "attend/tasks/translation/sentence_mode.h"
#include "attend/tasks/translation/training_task.h"
#include "attend/tasks/translation/translation_model.h"
#include "attend/train/memory.h"
#include "attend/train/run.h"

namespace attend {
namespace {

using Tokenizers = TranslationTokenizers;

Tokenizer make_tokenizer(const TranslationTrainingOptions& options, TranslatorArchitecture architecture,
                         const TrainingObserver& observer) {
  if (!options.tokenizer.empty()) return load_tokenizer(options.tokenizer);
  if (!options.from.empty() && options.vocab_size == 0) return ModelFolder(options.from).tokenizer();
  return learn_subwords(
      options.train,
      {.vocab_size = options.vocab_size, .each_side = architecture == TranslatorArchitecture::transformer}, observer);
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

/// The first training sources decide whether the model is to be given sentences or whole texts.
SentenceMode sentence_mode_of(const PairFiles& files) {
  constexpr std::int64_t kTexts = 20'000;
  SentenceCounter counter;
  const std::function<bool(Record&)> next = open_pairs(files);
  for (Record record; counter.texts() < kTexts && next(record);) counter.add(record.source);
  return counter.mode();
}

/// BLEU and chrF of greedy translations. `longest` is a limit: a model that has learned little finds no end.
std::function<Scores()> scores_of(const TrainableTranslator& model, PairExcerpt excerpt, std::int64_t longest,
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
      from ? continue_translator(*from, tokenizers, {new_vocabulary, options.dropout, options.lora, seed}, observer)
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
                model.size);

  TrainerOptions trainer = options.trainer;
  trainer.folder = folder;
  trainer.activation_bytes = activation_bytes(*model.network, options.batch_tokens,
                                              static_cast<double>(tokenizers.target.size()), trainer.recompute);
  TranslationTrainingTaskOptions task_options{.padding = needed_token("padding", tokenizers.source.special().padding),
                                              .label_smoothing = options.label_smoothing,
                                              .batches = {.max_tokens = options.batch_tokens, .seed = seed}};
  PairExcerpt excerpt = read_excerpt(options.validation, options.validation_sentences);
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
