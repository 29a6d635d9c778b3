// attend train dialogue and attend finetune dialogue: a chat model from dialogues.
#include <memory>

#include "attend/cli/shared/causal_lm_flags.h"
#include "attend/cli/shared/choice.h"
#include "attend/cli/shared/dialogue_flags.h"
#include "attend/cli/shared/numbers.h"
#include "attend/cli/shared/training.h"
#include "attend/cli/verbs.h"
#include "attend/tasks/dialogue/training.h"

namespace attend::cli {
namespace {

struct TrainDialogueFlags {
  TrainingFlags training;
  DialogueTrainingOptions options;
};

/// Flags of training and of fine-tuning.
void add_dialogue_training_flags(Verb& verb, TrainDialogueFlags& flags) {
  DialogueTrainingOptions& o = flags.options;
  add_paths_flag(verb, "--train", o.train,
                 "Dialogues: text files with one dialogue a line, or JSON lines (.jsonl) with OpenAI-style messages");
  add_paths_flag(verb, "--validation", o.validation, "Dialogues for validation, instead of --validation-share");
  verb.add_option("--validation-share", o.validation_share,
                  "Fraction of each file of --train to use for validation, evenly spread over the file")
      ->type_name("P")
      ->check(between(0.0, 0.9))
      ->excludes("--validation");
  add_turn_separator_flag(verb, o.format);
  verb.add_flag("--both-speakers", o.format.both_speakers,
                "Text files: learn the turns of both speakers; each dialogue is also read without its first turn");
  add_choice(verb, "--loss-on", o.loss_on, {{"replies", LossOn::replies}, {"all", LossOn::all}},
             "Tokens to learn. replies: those of the assistant and the end of each reply; all: all tokens. One of");
  Flag* context = verb.add_option("--context", o.context,
                                  "Context length in tokens; longer dialogues are cut: the oldest turns are left out");
  context->type_name("N")->check(kPositive);
  if (o.context == 0) context->default_value("")->default_text("the context of the model");
  verb.add_option("--beta2", o.trainer.beta2, "Beta2 of AdamW: the decay of the squared gradients")
      ->type_name("P")
      ->check(between(0.0, 0.99999));
  verb.add_option("--floor", o.trainer.floor, "Final learning rate, as a fraction of --learning-rate")
      ->type_name("P")
      ->check(between(0.0, 1.0));
  add_training_flags(verb, flags.training, o.trainer, o.batch_tokens, {"loss", "perplexity"});
}

void run_dialogue_training(TrainDialogueFlags& flags) {
  const DialogueTrainingOptions& o = flags.options;
  if (o.train.empty()) throw UsageError("--train", "is missing: give --train FILE, the dialogues to learn from");
  check_validation(flags.training, !o.validation.empty() || o.validation_share > 0);
  run_training(flags.training, "Training of " + o.trainer.output.string(),
               [&](const TrainingObserver& observer) { return train_dialogues(o, observer); });
}

}  // namespace

void add_train_dialogue(Verb& parent) {
  Verb* verb = parent.add_subcommand("dialogue", "Train a small chat model from dialogues");
  auto flags = std::make_shared<TrainDialogueFlags>();
  DialogueTrainingOptions& o = flags->options;
  add_dialogue_training_flags(*verb, *flags);
  verb->add_option("--vocab-size", o.vocab_size, "Largest number of tokens in the vocabulary, byte-level subwords")
      ->type_name("N")
      ->check(kPositive);
  const auto finish_network = add_causal_lm_flags(*verb, o.model, o.dropout);
  verb->footer(
      "In text files, each line is a dialogue, and its turns are those of the user and the assistant in turn.\n"
      "The folder has a chat template, for attend chat, attend serve and apply_chat_template of transformers.\n"
      "Example:\n"
      "  attend train dialogue --train dialogues.txt --output talker\n"
      "  attend chat --model talker --temperature 0.7");
  verb->callback([flags, finish_network] {
    finish_network();
    run_dialogue_training(*flags);
  });
}

void add_finetune_dialogue(Verb& parent) {
  Verb* verb = parent.add_subcommand("dialogue", "Train a language model further on dialogues");
  auto flags = std::make_shared<TrainDialogueFlags>();
  DialogueTrainingOptions& o = flags->options;
  o = DialogueTrainingOptions::finetune("");
  add_path_flag(*verb, "--from", o.from, "Folder of the language model to start from", "DIR")->required();
  add_dialogue_training_flags(*verb, *flags);
  add_path_flag(*verb, "--template", o.template_file, "Jinja chat template to train with, and to save with the model")
      ->default_text("that of the model; without one, the end-of-text token ends each message");
  verb->add_option("--template-args", o.template_args,
                   "JSON object of further variables for the template, such as {\"enable_thinking\": false}")
      ->type_name("JSON");
  add_own_dropout_flag(*verb, o.dropout);
  add_lora_flags(*verb, o.lora);
  verb->footer(
      "Example:\n"
      "  attend finetune dialogue --from SmolLM2-135M-Instruct --train support.jsonl --lora 8 --output ours\n"
      "  attend chat --model ours");
  verb->callback([flags] { run_dialogue_training(*flags); });
}

}  // namespace attend::cli
