// Trains a language model on dialogues, with the loss on the replies, or fine-tunes one:
//
//   attend::DialogueTrainingOptions options;
//   options.train = {"dialogues.txt"};
//   options.trainer.output = "talker";
//   attend::train_dialogues(options);
#pragma once
#include <cstdint>
#include <filesystem>
#include <optional>
#include <vector>

#include "attend/models/adapter.h"
#include "attend/models/causal_lm.h"
#include "attend/tasks/dialogue/dialogues.h"
#include "attend/tasks/dialogue/training_task.h"
#include "attend/train/trainer.h"

namespace attend {

struct DialogueTrainingOptions {
  std::vector<std::filesystem::path> train;            ///< files of dialogues: see DialogueReader
  std::vector<std::filesystem::path> validation = {};  ///< the same; empty: some dialogues are held back
  double validation_share = 0.1;  ///< the fraction of each file to hold back, evenly spread; 0: none
  DialogueFormat format = {};     ///< of plain text; dialogues for validation are read once
  LossOn loss_on = LossOn::replies;
  std::filesystem::path from = {};           ///< the folder of a model to fine-tune; empty: a new one
  std::filesystem::path template_file = {};  ///< a chat template instead of that of `from`
  std::string template_args = {};            ///< further variables of the template, a JSON object
  std::int64_t vocab_size = 8000;            ///< the maximum number of tokens to learn, byte-level BPE
  std::int64_t context = 512;        ///< longer dialogues lose their beginning; also the positions of a new model. 0:
                                     ///< those of `from`
  std::int64_t batch_tokens = 4096;  ///< tokens in a batch, padding included
  /// Of a new model: its family and its sizes. Begin with CausalLmOptions::of().
  CausalLmOptions model = new_model();
  std::optional<float> dropout = {};  ///< of all kinds; empty: the values of the model
  LoraOptions lora = {};              ///< for fine-tuning: train adapters only
  TrainerOptions trainer = {
      .epochs = 20, .learning_rate = 1e-3, .warmup = 100, .floor = 0.1, .weight_decay = 0.1f, .patience = 3};

  /// A small Llama.
  static CausalLmOptions new_model();
  /// The defaults for fine-tuning the model of a folder.
  static DialogueTrainingOptions finetune(std::filesystem::path from);
  /// Visits the options that must not change when a run is resumed, besides those of the model and the tokenizer.
  void visit(auto&& v) const {
    v("validation_share", validation_share), v("format", format), v("loss_on", loss_on), v("context", context);
    v("template_args", template_args);
    v("batch_tokens", batch_tokens), v("trainer", trainer);
    if (lora.on()) v("lora", lora);
  }
};

/// Trains a model and saves it to options.trainer.output, with its chat template. Scores: "loss" and "perplexity" of
/// the replies. Throws InputError if a file or an option is wrong, or if no dialogue has a reply.
TrainingResult train_dialogues(const DialogueTrainingOptions& options, const TrainingObserver& observer = {});

}  // namespace attend
