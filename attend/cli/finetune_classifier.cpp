// attend finetune classifier: a classifier of texts, or of pairs of texts, from a pretrained encoder.
#include <memory>

#include "attend/cli/shared/label_flags.h"
#include "attend/cli/shared/numbers.h"
#include "attend/cli/verbs.h"

namespace attend::cli {

void add_finetune_classifier(Verb& parent) {
  Verb* verb = parent.add_subcommand(
      "classifier", "Train a classifier of texts, or of pairs of texts, from an encoder or a classifier");
  auto flags = std::make_shared<LabelFlags>();
  ClassificationTrainingOptions& o = flags->options;
  o = ClassificationTrainingOptions::finetune("");
  add_path_flag(
      *verb, "--from", o.from,
      "Folder of an encoder (BERT, RoBERTa, ELECTRA, ModernBERT, …), or of a classifier to train further (GPT-2, or "
      "one that Attend has trained)",
      "DIR")
      ->required();
  add_label_data_flags(*verb, o);
  const auto column = [&](const char* name, std::string& value, const char* help, const char* type) {
    return verb->add_option(name, value, help)->type_name(type);
  };
  column("--pair-column", o.columns.pair, "Column of the second text, to classify pairs", "C");
  column("--label-column", o.columns.label, "Column of the label", "C")->default_text("2, or 3 with --pair-column");
  column("--several-labels", o.columns.separator, "Train a multi-label model; this text separates the labels of a line",
         "TEXT");
  verb->add_flag("--balanced", o.balanced, "Weigh the labels so that rare ones count as much as frequent ones");
  verb->add_option("--max-tokens", o.max_tokens, "Cut texts that have more tokens")
      ->type_name("N")
      ->default_text("the model's limit")
      ->check(kPositive);
  verb->add_option("--freeze", o.frozen_layers, "Do not update the embeddings and the first N layers; 0 updates all")
      ->type_name("N")
      ->check(kNotNegative);
  verb->add_option("--dropout", o.dropout, "Dropout probability")
      ->default_text("the model's own")
      ->type_name("P")
      ->check(between(0.0, 0.99));
  add_lora_flags(*verb, o.lora);
  add_label_learning_flags(*verb, *flags);
  verb->footer(
      "Example:\n"
      "  attend finetune classifier --from bert-base-uncased --train reviews.tsv --validation held-out.tsv --output "
      "reviews\n"
      "  echo 'A wonderful film.' | attend classify --model reviews\n"
      "A classifier of `attend train classifier` needs a higher learning rate:\n"
      "  attend finetune classifier --from reviews --train more.tsv --learning-rate 1e-3 --output reviews-2");
  verb->callback([flags] {
    if (flags->options.balanced && !flags->options.columns.separator.empty())
      throw UsageError("--balanced", "cannot be combined with --several-labels");
    train_labels(*flags, "Fine-tuning of " + flags->options.from.string());
  });
}

}  // namespace attend::cli
