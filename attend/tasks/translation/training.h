// Training a translator from sentence pairs, and fine-tuning one:
//
//   attend::TranslationTrainingOptions options;
//   options.train.pairs = "pairs.tsv";
//   options.validation.pairs = "held-out.tsv";
//   options.trainer.output = "en-it";
//   attend::train_translation(options);
//   attend::Translator translator("en-it");
//
// The pairs are tokenised once, into files in the output folder, and read from there: memory grows by 16 bytes a pair.
#pragma once
#include <cstdint>
#include <filesystem>
#include <optional>
#include <vector>

#include "attend/tasks/translation/trainable_translator.h"
#include "attend/train/trainer.h"

namespace attend {

/// Sentence pairs: one file with source, tab, target on each line; or two files, line by line.
struct PairFiles {
  std::filesystem::path pairs = {};
  std::filesystem::path source = {}, target = {};

  bool given() const { return !pairs.empty() || !source.empty(); }
  std::vector<std::filesystem::path> all() const { return {pairs, source, target}; }
};

struct TranslationTrainingOptions {
  PairFiles train, validation;
  std::filesystem::path from = {};       ///< the folder of a translator to fine-tune; empty: a new one
  std::filesystem::path tokenizer = {};  ///< the folder of a tokenizer to use; empty: see vocab_size
  std::int64_t vocab_size = 8000;        ///< subwords to learn from the pairs; 0, when fine-tuning: the model's own
  std::int64_t max_length = 100;         ///< longer pairs, in tokens, are left out
  std::int64_t batch_tokens = 2048;      ///< tokens of a batch, padding included
  float label_smoothing = 0.1f;
  std::int64_t validation_sentences = 500;  ///< how many are translated for BLEU and chrF at each evaluation
  TranslatorOptions model = {};             ///< of a new translator
  std::optional<float> dropout = {};        ///< instead of the model's own, when fine-tuning
  TrainerOptions trainer = {.epochs = 20, .warmup = 200, .patience = 5};

  /// The defaults of fine-tuning a folder's model.
  static TranslationTrainingOptions finetune(std::filesystem::path from);
  /// The options that must not change on resume, beside the model's and the tokenizer's.
  void visit(auto&& v) const {
    v("max_length", max_length), v("batch_tokens", batch_tokens), v("label_smoothing", label_smoothing);
    v("validation_sentences", validation_sentences), v("trainer", trainer);
  }
};

/// Trains, and saves the model into options.trainer.output. Scores: "loss", "bleu" and "chrf". Throws InputError for
/// files and options that do not fit.
TrainingResult train_translation(const TranslationTrainingOptions& options, const TrainingObserver& observer = {});

}  // namespace attend
