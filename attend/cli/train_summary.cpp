// attend train summary and attend finetune summary: a summarizer from texts and their summaries.
#include <memory>

#include "attend/cli/shared/choice.h"
#include "attend/cli/shared/numbers.h"
#include "attend/cli/shared/training.h"
#include "attend/cli/shared/transformer_flags.h"
#include "attend/cli/verbs.h"
#include "attend/tasks/summarization/training.h"

namespace attend::cli {
namespace {

struct SummaryFlags {
  TrainingFlags training;
  SummaryTrainingOptions options;
};

/// Flags of training and of fine-tuning.
void add_summary_flags(Verb& verb, SummaryFlags& flags) {
  SummaryTrainingOptions& o = flags.options;
  const auto option = [&](const char* name, auto& value, const char* help, const char* type) {
    return verb.add_option(name, value, help)->type_name(type);
  };
  add_path_flag(verb, "--train", o.train, "Training data: text, tab, summary on each line")->required();
  add_path_flag(verb, "--validation", o.validation, "Validation data: text, tab, summary on each line");
  option("--max-source-tokens", o.max_source_tokens, "Cut texts after N tokens, in training and in use", "N")
      ->check(kPositive);
  option("--max-tokens", o.max_tokens, "Leave out pairs whose summary has more than N tokens", "N")->check(kPositive);
  option("--validation-summaries", o.validation_summaries, "Number of texts to summarize for ROUGE at each validation",
         "N")
      ->check(kNotNegative);
  option("--label-smoothing", o.label_smoothing, "Fraction of the target probability that is spread over all tokens",
         "P")
      ->check(between(0.0, 0.99));
  option("--coverage", o.coverage,
         "Weight of the coverage loss, which keeps the pointer from attending to the same tokens again", "W")
      ->check(kNotNegative);
  option("--gap-sentence-epochs", o.gap_sentence_epochs,
         "In the first N epochs, learn from the texts alone: generate the sentence that has most words in common with "
         "the others, which is taken out of the text",
         "N")
      ->check(kNotNegative);
  option(
      "--candidates", o.candidates,
      "How attend summarize chooses a summary, recorded in the folder: the one of N samples with most words in common "
      "with the others; 1: the most probable one",
      "N")
      ->check(between(1, 1024))
      ->default_text("as the model's folder says, otherwise 1");
  add_training_flags(verb, flags.training, o.trainer, o.batch_tokens, {"rougeL", "rouge1", "rouge2", "loss"});
}

void check_and_train(SummaryFlags& flags) {
  check_validation(flags.training, !flags.options.validation.empty());
  run_training(flags.training, "Training of " + flags.options.trainer.output.string(),
               [&](const TrainingObserver& observer) { return train_summarizer(flags.options, observer); });
}

}  // namespace

void add_train_summary(Verb& parent) {
  Verb* verb = parent.add_subcommand("summary", "Train a summarizer from texts and their summaries");
  auto flags = std::make_shared<SummaryFlags>();
  SummaryTrainingOptions& o = flags->options;
  add_summary_flags(*verb, *flags);
  Flag* tokenizer = add_path_flag(*verb, "--tokenizer", o.tokenizer, "Folder of the tokenizer to use", "DIR")
                        ->default_text("learn one from the training data");
  verb->add_option("--vocab-size", o.vocab_size, "Number of subwords to learn, for texts and summaries together")
      ->type_name("N")
      ->excludes(tokenizer)
      ->check(kPositive);
  verb->add_flag(
          "--lowercase,!--cased", o.lowercase,
          "Convert texts and summaries to lower case, or keep the case; fewer different words are easier to learn")
      ->excludes(tokenizer);
  Verb* network = verb->add_option_group("The network");
  network->add_flag("--copy,!--no-copy", o.model.pointer,
                    "Let the network copy tokens of the text (a pointer-generator), or only generate");
  network
      ->add_option("--recurrent-layers", o.model.recurrent_layers,
                   "Number of bidirectional LSTM layers that read the text before the encoder layers, in place of "
                   "position embeddings; good for small data")
      ->type_name("N")
      ->check(kNotNegative);
  network
      ->add_option("--encoder-layers", o.model.encoder_layers,
                   "Number of encoder layers; may be 0 with --recurrent-layers")
      ->type_name("N")
      ->check(kNotNegative);
  network->add_option("--decoder-layers", o.model.decoder_layers, "Number of decoder layers")
      ->type_name("N")
      ->check(kPositive);
  network->add_option("--dropout", o.model.dropout, "Dropout probability of embeddings and between layers")
      ->type_name("P")
      ->check(between(0.0, 0.99));
  add_transformer_flags(*network, o.model);
  verb->footer(
      "Example:\n"
      "  attend train summary --train mails.tsv --validation held-out.tsv --output subjects\n"
      "  attend summarize --model subjects --input mails.txt");
  verb->callback([flags] {
    const TransformerOptions& model = flags->options.model;
    check_heads(model.encoder_heads, model.width);
    if (model.encoder_layers == 0 && model.recurrent_layers == 0)
      throw UsageError("--encoder-layers", "the encoder has no layers: expected at least 1, or --recurrent-layers");
    check_and_train(*flags);
  });
}

void add_finetune_summary(Verb& parent) {
  Verb* verb = parent.add_subcommand("summary", "Train a summarizer further on your own texts and summaries");
  auto flags = std::make_shared<SummaryFlags>();
  SummaryTrainingOptions& o = flags->options;
  o = SummaryTrainingOptions::finetune("");
  add_path_flag(*verb, "--from", o.from, "Folder of the model to start from: BART, T5, or one that Attend has trained",
                "DIR")
      ->required();
  add_summary_flags(*verb, *flags);
  verb->add_option("--source-prefix", o.source_prefix,
                   "Text that the model expects before each text, such as \"summarize: \" of T5")
      ->type_name("TEXT")
      ->default_text("as the model's folder says");
  verb->add_option("--dropout", o.dropout, "Dropout probability of embeddings and between layers")
      ->default_text("the model's own")
      ->type_name("P")
      ->check(between(0.0, 0.99));
  add_lora_flags(*verb, o.lora);
  verb->footer(
      "Example:\n"
      "  attend finetune summary --from t5-small --train ours.tsv --validation held-out.tsv --output t5-ours\n"
      "  attend summarize --model t5-ours --input texts.txt");
  verb->callback([flags] { check_and_train(*flags); });
}

}  // namespace attend::cli
