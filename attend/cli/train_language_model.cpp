// attend train language-model and attend finetune language-model: a GPT-2 or a Llama from plain text.
#include <memory>

#include "attend/cli/shared/causal_lm_flags.h"
#include "attend/cli/shared/choice.h"
#include "attend/cli/shared/numbers.h"
#include "attend/cli/shared/training.h"
#include "attend/cli/verbs.h"
#include "attend/tasks/language_model/training.h"

namespace attend::cli {
namespace {

struct TrainLanguageModelFlags {
  TrainingFlags training;
  LanguageModelTrainingOptions options;
};

/// TrainLanguageModelFlags of training and of fine-tuning.
void add_flags(Verb& verb, TrainLanguageModelFlags& flags) {
  LanguageModelTrainingOptions& o = flags.options;
  o.sample_tokens = 100;
  const auto option = [&](const char* name, auto& value, const char* help, const char* type) {
    return verb.add_option(name, value, help)->type_name(type);
  };
  add_paths_flag(verb, "--train", o.train,
                 "Training data: plain text, or a token store that `attend tokenize --store` has written");
  add_paths_flag(verb, "--validation", o.validation, "Validation text or token store, instead of --validation-share");
  option("--validation-share", o.validation_share, "Fraction of --train, at its end, to use for validation", "P")
      ->check(between(0.0, 0.9))
      ->excludes("--validation");
  option("--validation-tokens", o.validation_tokens, "Largest number of tokens to evaluate on; 0 uses all", "N")
      ->check(kNotNegative);
  add_choice(verb, "--documents", o.document_end, kDocumentEndNames, "Where a document of plain text ends");
  Flag* context = verb.add_option("--context", o.context, "Context length in tokens: the length of a training example");
  context->type_name("N")->check(kPositive);
  if (o.context == 0) context->default_value("")->default_text("the context of the model");
  option("--sample-prompt", o.sample_prompt, "Prompt of the sample that is generated after each validation", "TEXT");
  option("--sample-tokens", o.sample_tokens, "Length of that sample in tokens; 0 generates none", "N")
      ->check(kNotNegative);
  option("--beta2", o.trainer.beta2, "Beta2 of AdamW: the decay of the squared gradients", "P")
      ->check(between(0.0, 0.99999));
  option("--floor", o.trainer.floor, "Final learning rate, as a fraction of --learning-rate", "P")
      ->check(between(0.0, 1.0));
  add_training_flags(verb, flags.training, o.trainer, o.batch_tokens, {"loss", "perplexity"});
}

void check_and_run(TrainLanguageModelFlags& flags) {
  const LanguageModelTrainingOptions& o = flags.options;
  if (o.train.empty()) throw UsageError("--train", "is missing: give --train FILE, the text to learn from");
  check_validation(flags.training, !o.validation.empty() || o.validation_share > 0);
  run_training(flags.training, "Training of " + o.trainer.output.string(),
               [&](const TrainingObserver& observer) { return train_language_model(o, observer); });
}

}  // namespace

void add_train_language_model(Verb& parent) {
  Verb* verb = parent.add_subcommand("language-model", "Train a language model (GPT-2 or Llama) from plain text");
  auto flags = std::make_shared<TrainLanguageModelFlags>();
  LanguageModelTrainingOptions& o = flags->options;
  add_flags(*verb, *flags);
  Flag* tokenizer = add_path_flag(*verb, "--tokenizer", o.tokenizer, "Folder of the tokenizer to use", "DIR")
                        ->default_text("learn one from --train");
  add_choice(*verb, "--tokens", o.tokens, {{"bpe", LearnedTokens::bpe}, {"characters", LearnedTokens::characters}},
             "Tokens to learn. bpe: byte-level subwords, as in GPT-2; characters: one token per character. One of")
      ->excludes(tokenizer);
  verb->add_option("--vocab-size", o.vocab_size, "Largest number of tokens in the vocabulary")
      ->type_name("N")
      ->check(kPositive)
      ->excludes(tokenizer);
  const auto finish_network = add_causal_lm_flags(*verb, o.model, o.dropout);
  verb->footer(
      "Example:\n"
      "  attend train language-model --config shakespeare-char --train input.txt --output shakespeare\n"
      "  attend generate --model shakespeare 'ROMEO:' --temperature 0.8\n"
      "Recipes for --config: shakespeare-char.");
  verb->callback([flags, finish_network] {
    finish_network();
    check_and_run(*flags);
  });
}

void add_finetune_language_model(Verb& parent) {
  Verb* verb = parent.add_subcommand("language-model", "Train a language model further on your own texts");
  auto flags = std::make_shared<TrainLanguageModelFlags>();
  LanguageModelTrainingOptions& o = flags->options;
  o = LanguageModelTrainingOptions::finetune("");
  add_path_flag(*verb, "--from", o.from, "Folder of the language model to start from", "DIR")->required();
  add_flags(*verb, *flags);
  add_own_dropout_flag(*verb, o.dropout);
  add_lora_flags(*verb, o.lora);
  verb->footer(
      "Example:\n"
      "  attend finetune language-model --from gpt2 --train letters.txt --output ours\n"
      "  attend generate --model ours 'Dear' --sample");
  verb->callback([flags] { check_and_run(*flags); });
}

}  // namespace attend::cli
