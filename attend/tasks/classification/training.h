// Trains a classifier of texts, or of pairs of texts: a new recurrent network, an encoder that is fine-tuned, or a
// classifier that is trained further.
//
//   auto options = attend::ClassificationTrainingOptions::finetune("bert-base-uncased");
//   options.train = "reviews.tsv";
//   options.validation = "held-out.tsv";
//   options.trainer.output = "reviews";
//   attend::train_classification(options);
//   attend::Classifier classifier("reviews");
//
// The texts are tokenised once, into files in the output folder, and read from there: memory grows by 12 bytes a text.
#pragma once
#include <cstdint>
#include <filesystem>
#include <optional>

#include "attend/models/recurrent_classifier.h"
#include "attend/tasks/classification/labelled_texts.h"
#include "attend/train/trainer.h"

namespace attend {

struct ClassificationTrainingOptions {
  std::filesystem::path train, validation = {};
  LabelColumns columns = {};
  std::filesystem::path from = {};   ///< the folder of an encoder (BERT's family) or classifier; empty: a new network
  std::int64_t batch_tokens = 4096;  ///< tokens of a batch, padding included
  std::int64_t batch = 64;           ///< texts of a batch at most
  float word_dropout = 0.1f;         ///< fraction of tokens that are replaced in training by the unknown or mask token
  float label_smoothing = 0.f;
  float consistency = 0.f;  ///< weight of R-Drop: see ClassifierTraineeOptions
  bool balanced = false;    ///< rare labels weigh as much in the loss as frequent ones
  // A new network:
  std::filesystem::path tokenizer = {};  ///< the folder of a tokenizer to use; empty: a vocabulary of words is learned
  std::int64_t vocab_size = 30000;       ///< words at most, the most frequent
  std::int64_t min_frequency = 1;        ///< rarer words are unknown
  bool lowercase = true;                 ///< words are taken as lower case
  RecurrentClassifierOptions model = {};
  // Fine-tuning:
  std::int64_t max_tokens = 0;        ///< longer texts are cut; 0: the model's own limit
  std::int64_t frozen_layers = 0;     ///< keep the embeddings and this many of the first layers as they are
  std::optional<float> dropout = {};  ///< instead of the model's own
  TrainerOptions trainer = {.epochs = 10, .learning_rate = 2e-3, .average = 0.99};

  /// The defaults of fine-tuning a folder's encoder.
  static ClassificationTrainingOptions finetune(std::filesystem::path from);
  /// The options that must not change on resume, beside the model's and the tokenizer's.
  void visit(auto&& v) const {
    v("columns", columns), v("batch_tokens", batch_tokens), v("batch", batch), v("word_dropout", word_dropout);
    v("label_smoothing", label_smoothing), v("consistency", consistency), v("balanced", balanced);
    v("max_tokens", max_tokens), v("frozen_layers", frozen_layers), v("trainer", trainer);
  }
};

/// Trains, and saves the model into options.trainer.output. Scores: "accuracy", "f1" and "loss". Throws InputError for
/// files and options that do not fit.
TrainingResult train_classification(const ClassificationTrainingOptions& options,
                                    const TrainingObserver& observer = {});

}  // namespace attend
