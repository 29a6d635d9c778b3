// attend train translation and attend finetune translation: a translator from sentence pairs.
#include <memory>
#include <optional>

#include "attend/cli/shared/choice.h"
#include "attend/cli/shared/language_flags.h"
#include "attend/cli/shared/numbers.h"
#include "attend/cli/shared/training.h"
#include "attend/cli/shared/transformer_flags.h"
#include "attend/cli/verbs.h"
#include "attend/models/recurrent_common.h"
#include "attend/tasks/translation/training.h"

namespace attend::cli {
namespace {

constexpr const char* kTransformerGroup = "The Transformer (--arch marian)";
constexpr const char* kRecurrentGroup = "The recurrent network (--arch rnn)";

struct TrainTranslationFlags {
  TrainingFlags training;
  TranslationTrainingOptions options;
};

void add_pair_flags(Verb& verb, PairFiles& files, const std::string& prefix, const std::string& what) {
  Flag* pairs = add_path_flag(verb, "--" + prefix, files.pairs, what + ": source, tab, target on each line");
  Flag* source = add_path_flag(verb, "--" + prefix + "-source", files.source, what + ": the sources, one per line");
  Flag* target = add_path_flag(verb, "--" + prefix + "-target", files.target, what + ": the targets, one per line");
  pairs->excludes(source)->excludes(target);
  source->needs(target);
  target->needs(source);
}

/// TrainTranslationFlags of training and of fine-tuning.
void add_flags(Verb& verb, TrainTranslationFlags& flags) {
  TranslationTrainingOptions& o = flags.options;
  const auto option = [&](const char* name, auto& value, const char* help, const char* type) {
    return verb.add_option(name, value, help)->type_name(type);
  };
  add_pair_flags(verb, o.train, "train", "Training data");
  add_pair_flags(verb, o.validation, "validation", "Validation data");
  option("--max-length", o.max_length, "Leave out pairs with more than N tokens on a side", "N")->check(kPositive);
  option("--validation-sentences", o.validation_sentences,
         "Number of sentences to translate for BLEU and chrF at each validation", "N")
      ->check(kNotNegative);
  option("--label-smoothing", o.label_smoothing, "Fraction of the target probability that is spread over all tokens",
         "P")
      ->check(between(0.0, 0.99));
  add_training_flags(verb, flags.training, o.trainer, o.batch_tokens, {"bleu", "chrf", "loss"});
}

void check_and_run(TrainTranslationFlags& flags, const std::string& title) {
  if (!flags.options.train.given())
    throw UsageError("--train", "is missing: give --train FILE, or --train-source FILE and --train-target FILE");
  check_validation(flags.training, flags.options.validation.given());
  run_training(flags.training, title,
               [&](const TrainingObserver& observer) { return train_translation(flags.options, observer); });
}

void add_architecture_flags(Verb& verb, TranslatorOptions& options) {
  using Architecture = TranslatorArchitecture;
  TransformerOptions& t = options.transformer;
  RecurrentTranslatorOptions& r = options.recurrent;
  const auto fraction = between(0.0, 0.99);
  add_choice(verb, "--arch", options.architecture,
             {{"marian", Architecture::transformer}, {"rnn", Architecture::recurrent}},
             "Architecture. marian: a Transformer that Hugging Face reads as MarianMT; rnn: a recurrent encoder and "
             "decoder. One of");
  auto* both = verb.add_option_group("The network");
  add_shared<std::int64_t>(*both, "--encoder-layers", t.encoder_layers, r.encoder_layers, "Number of encoder layers",
                           "N")
      ->default_text("3, or 1 with --arch rnn")
      ->check(kPositive);
  add_shared<std::int64_t>(*both, "--decoder-layers", t.decoder_layers, r.decoder_layers, "Number of decoder layers",
                           "N")
      ->default_text("3, or 1 with --arch rnn")
      ->check(kPositive);
  add_shared<float>(*both, "--dropout", t.dropout, r.dropout, "Dropout probability of embeddings and between layers",
                    "P")
      ->default_text("0.1, or 0.2 with --arch rnn")
      ->check(fraction);

  const auto option = [](Verb* group, const char* name, auto& value, const char* help, const char* type) {
    return group->add_option(name, value, help)->type_name(type);
  };
  auto* transformer = verb.add_option_group(kTransformerGroup);
  add_transformer_flags(*transformer, t);
  transformer->add_flag("--shared-embeddings,!--separate-embeddings", t.shared_embeddings,
                        "One embedding table for both languages, or one for each");

  auto* recurrent = verb.add_option_group(kRecurrentGroup);
  add_choice(*recurrent, "--attention-type", r.attention, kDecoderAttentionNames, "Score function of the attention");
  add_choice(*recurrent, "--cell", r.cell, kCellNames, "Recurrent cell");
  option(recurrent, "--embedding", r.embedding, "Size of the embeddings", "N")->check(kPositive);
  option(recurrent, "--hidden", r.hidden, "Size of each recurrent layer", "N")->check(kPositive);
  recurrent->add_flag("--bidirectional,!--one-direction", r.bidirectional,
                      "Encode in both directions, or only forward");
  recurrent->add_flag("--reverse-source", r.reverse_source, "Read the source from its end");
  verb.add_flag_function(
          "--tied-output,!--untied-output", [&t, &r](bool tied) { t.tied_output = r.tied_output = tied; },
          "Output layer and target embeddings share their weights, or not")
      ->default_text("--tied-output");
}

/// Throws when a flag of the other architecture was given.
void check_architecture_flags(const Verb& verb, const TranslatorOptions& options) {
  const bool recurrent = options.architecture == TranslatorArchitecture::recurrent;
  for (Flag* option : verb.flags()) {
    if (option->group() != (recurrent ? kTransformerGroup : kRecurrentGroup)) continue;
    if (option->given()) throw UsageError(option->name(), recurrent ? "needs --arch marian" : "needs --arch rnn");
    option->configurable(false);  // the recipe of this run does not name it
  }
  if (!recurrent) check_heads(options.transformer.encoder_heads, options.transformer.width);
}

}  // namespace

void add_train_translation(Verb& parent) {
  Verb* verb = parent.add_subcommand("translation", "Train a translator from sentence pairs");
  auto flags = std::make_shared<TrainTranslationFlags>();
  add_flags(*verb, *flags);
  Flag* tokenizer =
      add_path_flag(*verb, "--tokenizer", flags->options.tokenizer, "Folder of the tokenizer to use", "DIR")
          ->default_text("learn one from the training data");
  verb->add_option("--vocab-size", flags->options.vocab_size,
                   "Number of subwords to learn: for each language (--arch marian), or for both together (--arch rnn)")
      ->type_name("N")
      ->excludes(tokenizer)
      ->check(kPositive);
  add_architecture_flags(*verb, flags->options.model);
  verb->footer(
      "Example:\n"
      "  attend corpus gettext --target-lang it --output pairs.tsv\n"
      "  attend train translation --config translation-small --train pairs.tsv --output en-it\n"
      "  echo 'Open the file' | attend translate --model en-it\n"
      "Recipes for --config: translation-small, translation-medium and translation-large, by how much data there is.");
  verb->callback([flags, verb] {
    check_architecture_flags(*verb, flags->options.model);
    check_and_run(*flags, "Training of " + flags->options.trainer.output.string());
  });
}

void add_finetune_translation(Verb& parent) {
  Verb* verb = parent.add_subcommand("translation", "Train a translator further on your own sentence pairs");
  auto flags = std::make_shared<TrainTranslationFlags>();
  TranslationTrainingOptions& o = flags->options;
  o = TranslationTrainingOptions::finetune("");
  add_path_flag(*verb, "--from", o.from,
                "Folder of the model to start from: an encoder–decoder of Hugging Face, or one that Attend has trained",
                "DIR")
      ->required();
  add_flags(*verb, *flags);
  add_language_flags(*verb, o.source_language, o.target_language, nullptr, false);  // --from is the model
  Flag* tokenizer =
      add_path_flag(*verb, "--tokenizer", o.tokenizer,
                    "Folder of another tokenizer to use; embeddings of tokens that both have are kept", "DIR");
  verb->add_option(
          "--vocab-size", o.vocab_size,
          "Learn N new subwords from the training data; embeddings of tokens that both tokenizers have are kept")
      ->type_name("N")
      ->default_text("the model's own tokenizer")
      ->check(kPositive)
      ->excludes(tokenizer);
  verb->add_option("--dropout", o.dropout, "Dropout probability of embeddings and between layers")
      ->default_text("the model's own")
      ->type_name("P")
      ->check(between(0.0, 0.99));
  add_lora_flags(*verb, o.lora);
  verb->footer(
      "Example:\n"
      "  attend finetune translation --from opus-mt-en-it --train pairs.tsv --validation held-out.tsv --output ours\n"
      "  attend translate --model ours --input texts.txt\n"
      "  attend finetune translation --from m2m100_418M --source-lang en --target-lang it --train pairs.tsv --output "
      "ours");
  verb->callback([flags] { check_and_run(*flags, "Training of " + flags->options.trainer.output.string()); });
}

}  // namespace attend::cli
