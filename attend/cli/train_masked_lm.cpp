// attend train masked-lm and attend finetune masked-lm: an encoder of texts from plain text.
#include <memory>

#include "attend/cli/shared/choice.h"
#include "attend/cli/shared/numbers.h"
#include "attend/cli/shared/training.h"
#include "attend/cli/verbs.h"
#include "attend/tasks/masked_lm/training.h"

namespace attend::cli {
namespace {

struct TrainMaskedLmFlags {
  TrainingFlags training;
  MaskedLmTrainingOptions options;
};

/// TrainMaskedLmFlags of training and of fine-tuning.
void add_flags(Verb& verb, TrainMaskedLmFlags& flags) {
  MaskedLmTrainingOptions& o = flags.options;
  add_paths_flag(verb, "--train", o.train, "Training text, plain")->required();
  add_paths_flag(verb, "--validation", o.validation,
                 "Validation text, plain; the model that scores best on it is kept");
  add_choice(verb, "--documents", o.document_end, kDocumentEndNames, "Where a document ends");
  verb.add_option("--max-tokens", o.max_tokens, "Length of an example in tokens; sentences are joined up to it")
      ->type_name("N")
      ->default_text("128, or the limit of --from")
      ->check(kPositive);
  verb.add_flag("--next-sentence,!--no-next-sentence", o.next_sentence,
                "Also learn to predict whether one text follows another, or learn masked tokens only");
  verb.add_option("--mask-probability", o.masking.share, "Fraction of tokens to mask")
      ->type_name("P")
      ->check(kPositive)
      ->check(between(0.0, 1.0));
  verb.add_flag("--whole-words", o.masking.whole_words, "Mask all tokens of a word, or none");
  add_training_flags(verb, flags.training, o.trainer, o.batch_tokens,
                     {"loss", "word_loss", "word_accuracy", "next_loss", "next_accuracy"});
}

void check_and_run(TrainMaskedLmFlags& flags) {
  const MaskedLmTrainingOptions& o = flags.options;
  check_validation(flags.training, !o.validation.empty());
  if (o.trainer.metric.starts_with("next_") && !o.next_sentence)
    throw UsageError("--metric", o.trainer.metric + " needs --next-sentence");
  run_training(flags.training, "Training of " + o.trainer.output.string(),
               [&](const TrainingObserver& observer) { return train_masked_lm(o, observer); });
}

}  // namespace

void add_train_masked_lm(Verb& parent) {
  Verb* verb = parent.add_subcommand("masked-lm", "Train a text encoder (BERT) from plain text");
  auto flags = std::make_shared<TrainMaskedLmFlags>();
  MaskedLmTrainingOptions& o = flags->options;
  add_flags(*verb, *flags);
  Flag* tokenizer = add_path_flag(*verb, "--tokenizer", o.tokenizer, "Folder of the tokenizer to use", "DIR")
                        ->default_text("learn one from --train");
  const auto option = [](Verb* app, const char* name, auto& value, const char* help, const char* type) {
    return app->add_option(name, value, help)->type_name(type);
  };
  option(verb, "--vocab-size", o.vocab_size, "Largest number of tokens in the vocabulary", "N")
      ->check(kPositive)
      ->excludes(tokenizer);
  verb->add_flag("--lowercase,!--cased", o.lowercase, "Convert text to lower case, or keep the case")
      ->excludes(tokenizer);
  auto* net = verb->add_option_group("The network");
  BertOptions& model = o.model;
  option(net, "--width", model.width, "Size of the hidden states", "N")->check(kPositive);
  option(net, "--layers", model.layers, "Number of layers", "N")->check(kPositive);
  option(net, "--heads", model.heads, "Number of attention heads; must divide --width", "N")->check(kPositive);
  option(net, "--inner", model.inner, "Size of the feed-forward networks", "N")->check(kPositive);
  option(net, "--dropout", model.dropout, "Dropout probability of embeddings, attention weights and between layers",
         "P")
      ->check(between(0.0, 0.99));
  verb->footer(
      "Documents are separated by an empty line, unless --documents says otherwise; sentences are found in them.\n"
      "Example:\n"
      "  attend train masked-lm --train texts.txt --validation held-out.txt --output encoder\n"
      "  attend fill-mask --model encoder 'The door is [MASK].'\n"
      "  attend finetune classifier --from encoder --train reviews.tsv --output reviews");
  verb->callback([flags] {
    check_heads(flags->options.model.heads, flags->options.model.width);
    check_and_run(*flags);
  });
}

void add_finetune_masked_lm(Verb& parent) {
  Verb* verb = parent.add_subcommand("masked-lm", "Train a text encoder further on your own texts");
  auto flags = std::make_shared<TrainMaskedLmFlags>();
  flags->options = MaskedLmTrainingOptions::finetune("");
  add_path_flag(*verb, "--from", flags->options.from,
                "Folder of the encoder to start from (BERT, RoBERTa, ELECTRA, ModernBERT, …)", "DIR")
      ->required();
  add_flags(*verb, *flags);
  add_lora_flags(*verb, flags->options.lora);
  verb->footer("Example: attend finetune masked-lm --from bert-base-uncased --train texts.txt --output our-bert");
  verb->callback([flags] { check_and_run(*flags); });
}

}  // namespace attend::cli
