// Training a language model (GPT-2) from plain text, and fine-tuning one:
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
#include "attend/models/gpt2.h"
#include "attend/train/trainer.h"

namespace attend {

/// What a tokenizer learns from a text.
enum class LearnedTokens : std::uint8_t {
  bpe,         ///< byte-level subwords, as GPT-2's
  characters,  ///< single characters
};

struct LanguageModelTrainingOptions {
  /// Plain text, several files are several documents; or one token store (attend/data/token_store.h).
  std::vector<std::filesystem::path> train;
  std::vector<std::filesystem::path> validation = {};  ///< the same; empty: the end of the training text
  double validation_share = 0.1;                       ///< the fraction of the training text to hold back; 0: none
  std::int64_t validation_tokens = 0;                  ///< tokens to evaluate on at most; 0: all
  DocumentEnd document_end = DocumentEnd::file;        ///< where a document of plain text ends
  std::filesystem::path from = {};                     ///< the folder of a model to fine-tune; empty: a new one
  std::filesystem::path tokenizer = {};  ///< the folder of a tokenizer for a new model; empty: one is learned
  LearnedTokens tokens = LearnedTokens::bpe;
  std::int64_t vocab_size = 8000;  ///< tokens to learn at most
  std::int64_t context =
      256;  ///< tokens of a window; the positions of a new model. 0: those of `from`, or a shorter text's
  std::int64_t batch_tokens = 4096;  ///< tokens of a batch of windows
  Gpt2Options model = {.width = 256, .layers = 6, .heads = 8};
  std::optional<float> dropout = {};  ///< everywhere; empty: 0.1, or the folder's own
  std::string sample_prompt = {};     ///< after each evaluation the model continues this text,
  std::int64_t sample_tokens = 0;     ///< by this many tokens, for TrainingObserver::sampled; 0: not at all
  TrainerOptions trainer = {.epochs = 3,
                            .learning_rate = 6e-4,
                            .warmup = 100,
                            .floor = 0.1,
                            .weight_decay = 0.1f,
                            .beta2 = 0.99,
                            .evaluate_every = 250};

  /// The defaults of fine-tuning a folder's model.
  static LanguageModelTrainingOptions finetune(std::filesystem::path from);
  /// The options that must not change on resume, beside the model's and the tokenizer's.
  void visit(auto&& v) const {
    v("validation_share", validation_share), v("validation_tokens", validation_tokens);
    v("document_end", document_end), v("context", context), v("batch_tokens", batch_tokens), v("trainer", trainer);
  }
};

/// Trains, and saves the model into options.trainer.output. Scores: "loss" and "perplexity". Throws InputError for
/// files and options that do not fit.
TrainingResult train_language_model(const LanguageModelTrainingOptions& options, const TrainingObserver& observer = {});

}  // namespace attend
