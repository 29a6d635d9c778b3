// attend finetune answer: a model that finds the answers to questions in texts, from a pretrained encoder.
#include <memory>

#include "attend/cli/shared/answer_flags.h"
#include "attend/cli/shared/numbers.h"
#include "attend/cli/verbs.h"

namespace attend::cli {

void add_finetune_answer(Verb& parent) {
  Verb* verb = parent.add_subcommand(
      "answer", "Train an encoder to find the answers to questions in texts, or such a model further");
  auto flags = std::make_shared<AnswerTrainingFlags>();
  AnswerTrainingOptions& o = flags->options;
  o = AnswerTrainingOptions::finetune("");
  add_path_flag(*verb, "--from", o.from,
                "Folder of an encoder (BERT, RoBERTa, ELECTRA, ModernBERT, …), or of a model of `attend train answer`",
                "DIR")
      ->required();
  add_answer_data_flags(*verb, o);
  add_answer_learning_flags(*verb, *flags, kAnswerWindow);
  verb->add_option("--freeze", o.frozen_layers, "Do not update the embeddings and the first N layers; 0 updates all")
      ->type_name("N")
      ->check(kNotNegative);
  verb->add_option("--dropout", o.dropout, "Dropout probability")
      ->default_text("the model's own")
      ->type_name("P")
      ->check(between(0.0, 0.99));
  add_lora_flags(*verb, o.lora);
  verb->footer(
      "Example:\n"
      "  attend finetune answer --from bert-base-uncased --train squad.json --validation dev.json --output answers\n"
      "  attend answer --model answers --question 'Who lives here?' --text 'Joe lives in Rome.'");
  verb->callback([flags] { train_answer_model(*flags, "Fine-tuning of " + flags->options.from.string()); });
}

}  // namespace attend::cli
