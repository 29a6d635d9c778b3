// Trains a classifier of texts, of pairs of texts or of documents: a new network, an encoder that is fine-tuned, or a
// classifier that is trained further.
//
//   auto options = attend::ClassificationTrainingOptions::finetune("bert-base-uncased");
//   options.train = "reviews.tsv";
//   options.validation = "held-out.tsv";
//   options.trainer.output = "reviews";
//   attend::train_classification(options);
//   attend::Classifier classifier("reviews");
//
// The texts are tokenised once into files in the output folder. A text needs 12 bytes of memory.
#pragma once
#include <cstdint>
#include <filesystem>
#include <optional>
#include <variant>

#include "attend/models/adapter.h"
#include "attend/models/decomposable_attention.h"
#include "attend/models/esim.h"
#include "attend/models/hierarchical_classifier.h"
#include "attend/models/recurrent_classifier.h"
#include "attend/tasks/classification/labelled_texts.h"
#include "attend/train/trainer.h"

namespace attend {

struct ClassificationTrainingOptions {
  std::filesystem::path train, validation = {};
  LabelColumns columns = {};
  std::filesystem::path from = {};   ///< the folder of an encoder (BERT's family) or classifier; empty: a new network
  std::int64_t batch_tokens = 4096;  ///< tokens in a batch, including padding
  std::int64_t batch = 64;           ///< the maximum number of texts in a batch
  float word_dropout = 0.1f;         ///< fraction of tokens that are replaced in training by the unknown or mask token
  float label_smoothing = 0.f;
  float consistency = 0.f;  ///< weight of R-Drop: see ClassifierTrainingTaskOptions
  bool balanced = false;    ///< weight the loss so that rare and frequent labels contribute equally
  // A new network:
  std::filesystem::path tokenizer = {};  ///< the folder of a tokenizer to use; empty: a vocabulary of words is learned
  std::int64_t vocab_size = 30000;       ///< the maximum number of words; the most frequent are kept
  std::int64_t min_frequency = 1;        ///< rarer words become the unknown token
  bool lowercase = true;                 ///< convert texts to lower case
  /// The architecture and its sizes; vocabulary and labels are filled in.
  std::variant<RecurrentClassifierOptions, DecomposableAttentionOptions, EsimOptions, HierarchicalClassifierOptions>
      network = {};
  std::filesystem::path vectors = {};  ///< a file of word vectors to start from (see word_vectors.h)
  bool fixed_vectors = false;          ///< the vectors of the words are not trained
  std::int64_t max_tokens = 0;         ///< longer texts are truncated; 0: the model's limit
  // Fine-tuning:
  std::int64_t frozen_layers = 0;     ///< above 0: do not train the embeddings and this many of the first layers
  std::optional<float> dropout = {};  ///< replaces the model's dropout
  LoraOptions lora = {};              ///< train adapters and the output layer only
  TrainerOptions trainer = {.epochs = 10, .learning_rate = 2e-3, .average = 0.99};

  /// The defaults for fine-tuning the encoder of a folder.
  static ClassificationTrainingOptions finetune(std::filesystem::path from);
  /// Visits the options that must not change when a run is resumed, besides those of the model and the tokenizer.
  void visit(auto&& v) const {
    v("columns", columns), v("batch_tokens", batch_tokens), v("batch", batch), v("word_dropout", word_dropout);
    v("label_smoothing", label_smoothing), v("consistency", consistency), v("balanced", balanced);
    v("max_tokens", max_tokens), v("fixed_vectors", fixed_vectors), v("frozen_layers", frozen_layers),
        v("trainer", trainer);
    if (lora.on()) v("lora", lora);
  }
};

/// Trains a model and saves it to options.trainer.output. Scores: "accuracy", "f1" and "loss". Throws InputError if a
/// file or an option is wrong.
TrainingResult train_classification(const ClassificationTrainingOptions& options,
                                    const TrainingObserver& observer = {});

}  // namespace attend
