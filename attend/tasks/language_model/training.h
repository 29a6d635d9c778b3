// Trains a language model (GPT-2 or Llama) on plain text, or fine-tunes one:
//
//   attend::LanguageModelTrainingOptions options;
//   options.train = {"input.txt"};
//   options.trainer.output = "shakespeare";
//   attend::train_language_model(options);
//   attend::LanguageModel model("shakespeare");
#pragma once
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "attend/data/tokenized_texts.h"
#include "attend/models/adapter.h"
#include "attend/models/causal_lm.h"
#include "attend/train/trainer.h"

namespace attend {

/// The tokens of a new tokenizer.
enum class LearnedTokens : std::uint8_t {
  bpe,         ///< byte-level BPE, as in GPT-2
  characters,  ///< single characters
};

struct LanguageModelTrainingOptions {
  /// Files of plain text, each at least one document; or one token store (attend/data/token_store.h).
  std::vector<std::filesystem::path> train;
  std::vector<std::filesystem::path> validation = {};  ///< the same; empty: the end of the training text is held back
  double validation_share = 0.1;                       ///< the fraction of the training text to hold back; 0: none
  std::int64_t validation_tokens = 0;                  ///< the maximum number of tokens to evaluate on; 0: all
  DocumentEnd document_end = DocumentEnd::file;        ///< where a document of plain text ends
  std::filesystem::path from = {};                     ///< the folder of a model to fine-tune; empty: a new one
  std::filesystem::path tokenizer = {};  ///< the folder of a tokenizer for a new model; empty: one is learned
  LearnedTokens tokens = LearnedTokens::bpe;
  std::int64_t vocab_size = 8000;    ///< the maximum number of tokens to learn
  std::int64_t context = 256;        ///< tokens in a window; also the positions of a new model. 0: those of `from`
  std::int64_t batch_tokens = 4096;  ///< tokens in a batch of windows
  /// Of a new model: its family and its sizes. For another family than GPT-2, begin with CausalLmOptions::of().
  CausalLmOptions model = {.width = 256, .layers = 6, .heads = 8};
  std::optional<float> dropout = {};  ///< of all kinds; empty: the values of the model
  LoraOptions lora = {};              ///< for fine-tuning: train adapters only
  std::string sample_prompt = {};     ///< the model continues this text after each evaluation
  std::int64_t sample_tokens = 0;     ///< the number of tokens to generate, for TrainingObserver::sampled; 0: none
  TrainerOptions trainer = {.epochs = 3,
                            .learning_rate = 6e-4,
                            .warmup = 100,
                            .floor = 0.1,
                            .weight_decay = 0.1f,
                            .beta2 = 0.99,
                            .evaluate_every = 250};

  /// The defaults for fine-tuning the model of a folder.
  static LanguageModelTrainingOptions finetune(std::filesystem::path from);
  /// Visits the options that must not change when a run is resumed, besides those of the model and the tokenizer.
  void visit(auto&& v) const {
    v("validation_share", validation_share), v("validation_tokens", validation_tokens);
    v("document_end", document_end), v("context", context), v("batch_tokens", batch_tokens), v("trainer", trainer);
    if (lora.on()) v("lora", lora);
  }
};

/// Trains a model and saves it to options.trainer.output. Scores: "loss" and "perplexity". Throws InputError if a file
/// or an option is wrong.
TrainingResult train_language_model(const LanguageModelTrainingOptions& options, const TrainingObserver& observer = {});

}  // namespace attend
