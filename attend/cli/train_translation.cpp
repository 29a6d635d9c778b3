// attend train translation and attend finetune translation: a translator from sentence pairs, or a better one.
#include <CLI/CLI.hpp>
#include <iostream>
#include <memory>
#include <optional>

#include "attend/cli/shared/input.h"
#include "attend/cli/shared/interrupt.h"
#include "attend/cli/shared/numbers.h"
#include "attend/cli/shared/progress.h"
#include "attend/cli/shared/training.h"
#include "attend/cli/shared/translation_models.h"
#include "attend/cli/verbs.h"
#include "attend/core/error.h"
#include "attend/data/fingerprint.h"
#include "attend/data/reader.h"
#include "attend/data/tokenized_texts.h"
#include "attend/metrics/bleu.h"
#include "attend/metrics/chrf.h"
#include "attend/tasks/translation/training.h"
#include "attend/tasks/translation/translation_model.h"
#include "attend/text/training/train_sentencepiece.h"

namespace attend::cli {
namespace {

struct PairFiles {
  std::string pairs, source, target;  // a TSV, or two files of lines
  bool given() const { return !pairs.empty() || !source.empty(); }
};

struct Flags {
  TrainingFlags training;
  PairFiles train, validation;
  std::string from, tokenizer;     // from: empty unless fine-tuning
  std::int64_t vocab_size = 8000;  // fine-tuning: 0, the model's own
  std::int64_t max_length = 100, judged = 500;
  float label_smoothing = 0.1f;
  ArchitectureFlags model;
};

struct TextPairs {
  std::vector<std::string> sources, targets;
};

TextPairs read_pairs(const PairFiles& files, const char* label) {
  const auto reader = files.pairs.empty()
                          ? read_parallel(TextStream::open(files.source), TextStream::open(files.target))
                          : read_tsv(TextStream::open(files.pairs));
  TextPairs pairs;
  ProgressBar bar(label, "B");
  for (Record record; reader->next(record);) {
    pairs.sources.push_back(record.source), pairs.targets.push_back(record.target);
    bar.update(reader->position(), 0);
  }
  return pairs;
}

void add_pair_flags(CLI::App& verb, PairFiles& files, const std::string& prefix, const std::string& what) {
  auto* pairs = verb.add_option("--" + prefix, files.pairs, what + ": source, tab, target on each line");
  auto* source = verb.add_option("--" + prefix + "-source", files.source, what + ": the source side, a text a line");
  auto* target = verb.add_option("--" + prefix + "-target", files.target, what + ": the target side, line by line");
  pairs->type_name("FILE")->excludes(source)->excludes(target);
  source->type_name("FILE")->needs(target);
  target->type_name("FILE")->needs(source);
}

/// Learns the subwords: one set for both sides together, or with Marian's layout one for each.
Tokenizer learn_tokenizer(const Flags& flags, const TextPairs& pairs) {
  const StopAtOnce at_once;  // the library cannot be asked to stop
  const SentencePieceTrainingOptions options{
      .unigram = false, .vocab_size = flags.vocab_size, .character_coverage = 1.0};
  const auto lines_of = [](const std::vector<std::string>& texts) {
    return [&texts, next = std::size_t{0}](std::string& line) mutable {
      if (next == texts.size()) return false;
      line = texts[next++];
      return true;
    };
  };
  const bool each = flags.model.arch == Architecture::marian;
  std::cerr << "Learning " << grouped(flags.vocab_size) << " subwords " << (each ? "of each side" : "from both sides")
            << std::endl;
  if (each) return train_sentencepiece_pair(lines_of(pairs.sources), lines_of(pairs.targets), options);
  return train_sentencepiece(
      [source = lines_of(pairs.sources), target = lines_of(pairs.targets), turn = false](std::string& line) mutable {
        turn = !turn;
        return turn ? source(line) : target(line);
      },
      options);
}

Tokenizer make_tokenizer(const Flags& flags, const TextPairs& pairs) {
  if (!flags.tokenizer.empty()) return load_tokenizer(flags.tokenizer);
  if (!flags.from.empty() && flags.vocab_size == 0) return load_tokenizer(flags.from);
  return learn_tokenizer(flags, pairs);
}

/// The same tokenizer for the targets, which may have subwords of their own.
Tokenizer target_side(const Tokenizer& tokenizer) {
  Tokenizer::Parts parts = tokenizer.parts();
  if (const auto* pair = std::get_if<SentencePiece>(&parts.model)) parts.model = pair->for_target();
  return Tokenizer(std::move(parts));
}

/// Pairs as ids; those that are empty or too long on a side are left out and counted.
EncodedPairs encode(const Tokenizers& tokenizers, const TextPairs& pairs, std::int64_t max_length,
                    std::int64_t& left_out) {
  std::vector<Encoding> sources = tokenizers.source.encode_all(pairs.sources);
  std::vector<Encoding> targets = tokenizers.target.encode_all(pairs.targets);
  EncodedPairs encoded;
  for (std::size_t i = 0; i < sources.size(); ++i) {
    if (sources[i].size() < 2 || targets[i].size() < 2 || sources[i].size() > max_length ||
        targets[i].size() > max_length) {
      ++left_out;
      continue;
    }
    encoded.sources.push_back(std::move(sources[i].ids)), encoded.targets.push_back(std::move(targets[i].ids));
  }
  return encoded;
}

void run(Flags& flags) {
  check_output(flags.training, flags.from);
  for (const PairFiles* files : {&flags.train, &flags.validation})
    check_texts({files->pairs, files->source, files->target});
  std::optional<Origin> origin;
  if (!flags.from.empty()) flags.model.arch = origin.emplace(flags.from).arch;
  const TextPairs train_text = read_pairs(flags.train, "Reading");
  TextPairs validation_text;
  if (flags.validation.given()) validation_text = read_pairs(flags.validation, "Reading the validation pairs");
  const Tokenizer tokenizer = make_tokenizer(flags, train_text);
  const Tokenizers tokenizers{tokenizer, target_side(tokenizer)};
  const std::uint64_t seed = flags.training.trainer.seed;
  const bool new_vocabulary = !flags.tokenizer.empty() || flags.vocab_size > 0;
  TranslatorInTraining made = origin ? continue_translator(*origin, flags.model, tokenizers, new_vocabulary, seed)
                                     : make_translator(flags.model, tokenizers, flags.max_length, seed);

  const std::int64_t max_length = made.max_length > 0 ? std::min(flags.max_length, made.max_length) : flags.max_length;
  std::int64_t left_out = 0;
  EncodedPairs training = encode(tokenizers, train_text, max_length, left_out);
  EncodedPairs validation = encode(tokenizers, validation_text, max_length, left_out);
  if (left_out > 0)
    warn("left out: " + counted(left_out, "pair") + " that are empty, or longer than " + grouped(max_length) +
         " tokens (--max-length)");

  std::cerr << counted(training.size(), "pair") << ", " << grouped(validation.size()) << " for validation, "
            << grouped(made.size) << " parameters" << std::endl;
  const std::int32_t padding = needed_token("padding", tokenizers.source.special().padding);
  std::string& metric = flags.training.trainer.metric;
  const std::size_t judged =
      std::min<std::size_t>(static_cast<std::size_t>(flags.judged), validation_text.sources.size());
  const std::vector<std::string> judged_sources(validation_text.sources.begin(),
                                                validation_text.sources.begin() + static_cast<std::ptrdiff_t>(judged));
  const References references{
      {validation_text.targets.begin(), validation_text.targets.begin() + static_cast<std::ptrdiff_t>(judged)}};
  std::int64_t longest = 20;  // a model that has learned little would not find an end
  for (const auto& source : validation.sources)
    longest = std::max(longest, 20 + 2 * static_cast<std::int64_t>(source.size()));
  if (judged == 0 && !metric.empty() && metric != "loss")
    fail<InputError>("train", "there is nothing to translate and judge by ", metric,
                     ": got no validation pairs, or --validation-sentences 0");
  if (judged > 0)
    made.task.judge = [&]() -> Scores {
      std::vector<std::string> said;
      for (auto& translations : made.translator()(judged_sources, {{.beam = 1, .max_new_tokens = longest}}))
        said.push_back(std::move(translations.front().text));
      return {{"bleu", corpus_bleu(said, references).score}, {"chrf", corpus_chrf(said, references)}};
    };
  TranslationTrainee trainee(made.task, std::move(training), std::move(validation),
                             {.padding = padding,
                              .start = made.start,
                              .label_smoothing = flags.label_smoothing,
                              .batches = {.max_tokens = flags.training.batch_tokens, .seed = seed}});
  if (metric.empty() && made.task.judge) metric = "bleu";
  Fingerprint data;
  data.add(made.options).add(fingerprint(tokenizer));
  for (const double value : {static_cast<double>(flags.training.batch_tokens), static_cast<double>(max_length),
                             static_cast<double>(flags.label_smoothing)})
    data.add(std::to_string(value));
  for (const std::string* file : {&flags.train.pairs, &flags.train.source, &flags.train.target})
    if (!file->empty()) data.add_contents(*file);
  if (origin) data.add_contents(origin->folder / "config.json");
  run_training(trainee, flags.training, "Training of " + flags.training.output, std::to_string(data.value()));
}

/// All flags but those that say what is trained.
void add_flags(CLI::App& verb, Flags& flags) {
  const auto option = [&](const char* name, auto& value, const char* help, const char* type) {
    return verb.add_option(name, value, help)->type_name(type)->capture_default_str();
  };
  add_pair_flags(verb, flags.train, "train", "Pairs to learn from");
  add_pair_flags(verb, flags.validation, "validation", "Pairs to judge by");
  option("--max-length", flags.max_length, "Longer pairs, in tokens, are left out", "N")->check(kPositive);
  option("--validation-sentences", flags.judged, "How many are translated for BLEU and chrF at each validation", "N")
      ->check(kNotNegative);
  option("--label-smoothing", flags.label_smoothing, "This share of the target goes to all words alike", "SHARE")
      ->check(between(0.0, 0.99));
  add_training_flags(verb, flags.training, {"bleu", "chrf", "loss"});
}

void check_and_run(Flags& flags) {
  if (!flags.train.given()) throw CLI::ValidationError("--train", "name the pairs to learn from");
  check_validation(flags.training, flags.validation.given());
  run(flags);
}

}  // namespace

void add_train_translation(CLI::App& parent) {
  CLI::App* verb = parent.add_subcommand("translation", "A translator from sentence pairs");
  auto flags = std::make_shared<Flags>();
  TrainerOptions& trainer = flags->training.trainer;
  trainer.epochs = 20, trainer.warmup = 200, trainer.patience = 5;
  flags->training.batch_tokens = 2048;
  add_flags(*verb, *flags);
  CLI::Option* tokenizer =
      verb->add_option("--tokenizer", flags->tokenizer, "A tokenizer's folder, instead of learning one");
  tokenizer->type_name("DIR");
  verb->add_option("--vocab-size", flags->vocab_size,
                   "Subwords to learn: of each language (--arch marian), or of both together")
      ->type_name("N")
      ->capture_default_str()
      ->excludes(tokenizer)
      ->check(kPositive);
  add_architecture_flags(*verb, flags->model);
  verb->footer(
      "Example:\n"
      "  attend corpus gettext --to it --output pairs.tsv\n"
      "  attend train translation --config translation-small --train pairs.tsv --output en-it\n"
      "  echo 'Open the file' | attend translate --model en-it\n"
      "Recipes for --config: translation-small, translation-medium and translation-large, by how much data there is.");
  verb->callback([flags, verb] {
    check_architecture_flags(*verb, flags->model);
    if (flags->model.arch == Architecture::marian) check_heads(flags->model.heads, flags->model.transformer.width);
    check_and_run(*flags);
  });
}

void add_finetune_translation(CLI::App& parent) {
  CLI::App* verb =
      parent.add_subcommand("translation", "A translator that knows its languages, for texts of one's own");
  auto flags = std::make_shared<Flags>();
  TrainerOptions& trainer = flags->training.trainer;
  trainer.epochs = 5, trainer.learning_rate = 2e-4, trainer.warmup = 100, trainer.patience = 3;
  flags->training.batch_tokens = 2048;
  flags->vocab_size = 0;
  verb->add_option("--from", flags->from, "The folder of the model to start from: Attend's own, or a MarianMT model's")
      ->type_name("DIR")
      ->required();
  add_flags(*verb, *flags);
  auto* tokenizer = verb->add_option("--tokenizer", flags->tokenizer,
                                     "A tokenizer's folder, instead of the model's own; the model keeps what it knows "
                                     "of pieces that both have");
  auto* vocab_size =
      verb->add_option("--vocab-size", flags->vocab_size,
                       "Learn so many new subwords from the pairs, instead of the model's own, likewise");
  tokenizer->type_name("DIR")->excludes(vocab_size);
  vocab_size->type_name("N")->check(kPositive);
  add_dropout_flag(*verb, flags->model);
  verb->footer(
      "Example:\n"
      "  attend finetune translation --from opus-mt-en-it --train pairs.tsv --validation held-out.tsv --output ours\n"
      "  attend translate --model ours --input texts.txt");
  verb->callback([flags] { check_and_run(*flags); });
}

}  // namespace attend::cli
