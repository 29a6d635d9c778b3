// Trains a translator on sentence pairs, or fine-tunes one:
//
//   attend::TranslationTrainingOptions options;
//   options.train.pairs = "pairs.tsv";
//   options.validation.pairs = "held-out.tsv";
//   options.trainer.output = "en-it";
//   attend::train_translation(options);
//   attend::Translator translator("en-it");
//
// The pairs are tokenised once into files in the output folder. A pair needs 16 bytes of memory.
#pragma once
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "attend/tasks/translation/text_pairs.h"
#include "attend/tasks/translation/trainable_translator.h"
#include "attend/train/trainer.h"

namespace attend {

struct TranslationTrainingOptions {
  PairFiles train, validation;
  std::filesystem::path from = {};  ///< the folder of a translator to fine-tune; empty: a new one
  /// For fine-tuning a multilingual translator (M2M-100, mBART, NLLB): the languages of the pairs, which become the
  /// defaults of the new folder; empty: those of its folder.
  std::string source_language = {}, target_language = {};
  std::filesystem::path tokenizer = {};  ///< the folder of a tokenizer to use; empty: see vocab_size
  std::int64_t vocab_size = 8000;        ///< subwords to learn from the pairs; 0 for fine-tuning: use the model's own
  std::int64_t max_length = 100;         ///< pairs with more tokens on either side are left out
  std::int64_t batch_tokens = 2048;      ///< tokens in a batch, including padding
  float label_smoothing = 0.1f;
  std::int64_t validation_sentences = 500;  ///< sentences that are translated for BLEU and chrF in each evaluation
  TranslatorOptions model = {};             ///< for a new translator
  LoraOptions lora = {};                    ///< for fine-tuning: train adapters only
  std::optional<float> dropout = {};        ///< for fine-tuning: replaces the model's dropout
  TrainerOptions trainer = {.epochs = 20, .warmup = 200, .patience = 5};

  /// The defaults for fine-tuning the model of a folder.
  static TranslationTrainingOptions finetune(std::filesystem::path from);
  /// Visits the options that must not change when a run is resumed, besides those of the model and the tokenizer.
  void visit(auto&& v) const {
    v("max_length", max_length), v("batch_tokens", batch_tokens), v("label_smoothing", label_smoothing);
    v("validation_sentences", validation_sentences), v("trainer", trainer);
    v("source_language", source_language), v("target_language", target_language);
    if (lora.on()) v("lora", lora);
  }
};

/// Trains a model and saves it to options.trainer.output. Scores: "loss", "bleu" and "chrf". Throws InputError if a
/// file or an option is wrong.
TrainingResult train_translation(const TranslationTrainingOptions& options, const TrainingObserver& observer = {});

}  // namespace attend
