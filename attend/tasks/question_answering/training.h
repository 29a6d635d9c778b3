// Trains a model that finds answers in texts, on files in SQuAD's format: a new network (BiDAF), an encoder of BERT's
// family that is fine-tuned, or a model that is trained further.
//
//   attend::AnswerTrainingOptions options;
//   options.train = {"squad.json"};
//   options.validation_share = options.test_share = 0.1;
//   options.trainer.output = "answers";
//   attend::train_answers(options);
//   attend::Answerer answerer("answers");
//
// All questions are in memory: about 30 bytes for each token of a question and its text.
#pragma once
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "attend/models/adapter.h"
#include "attend/models/bidaf.h"
#include "attend/tasks/question_answering/span_reader.h"
#include "attend/train/trainer.h"

namespace attend {

struct AnswerTrainingOptions {
  std::vector<std::filesystem::path> train;
  std::filesystem::path validation = {};
  /// Shares of the training questions that are held out, by whole articles (see split_articles()). They are written to
  /// validation.json and test.json in the output folder. The test questions are not looked at.
  double validation_share = 0, test_share = 0;
  std::uint64_t split_seed = 1;
  std::string language = "en";          ///< of the answers, for the evaluation (see answer_rules())
  std::int64_t max_answer_tokens = 10;  ///< in the evaluation
  SpanWindowOptions windows = {};       ///< how long texts are split
  std::int64_t batch_tokens = 8192;     ///< tokens in a batch, including padding
  std::int64_t batch = 32;              ///< the maximum number of questions in a batch
  float word_dropout = 0.1f;        ///< fraction of tokens that are replaced in training by the unknown or mask token
  std::filesystem::path from = {};  ///< the folder of an encoder or of a model that answers; empty: a new network
  // A new network. With few words that have vectors, the network learns to use the spelling and the matches, which it
  // also has for the words of other articles:
  std::int64_t vocab_size = 50000;  ///< the maximum number of words; the most frequent are kept
  std::int64_t min_frequency = 10;  ///< rarer words become the unknown token
  bool lowercase = true;            ///< convert texts to lower case
  BidafOptions network = {.embedding = 64,
                          .hidden = 64,
                          .match = true,
                          .summary = true,
                          .dropout = 0.4f};  ///< its sizes; the vocabulary is filled in
  std::filesystem::path vectors = {};        ///< a file of word vectors to start from (see word_vectors.h)
  bool fixed_vectors = false;                ///< the vectors of the words are not trained
  // Fine-tuning:
  std::int64_t frozen_layers = 0;     ///< above 0: do not train the embeddings and this many of the first layers
  std::optional<float> dropout = {};  ///< replaces the model's dropout
  LoraOptions lora = {};              ///< train adapters and the output layer only
  TrainerOptions trainer = {.epochs = 8, .learning_rate = 2e-3, .warmup = 50, .average = 0.99};

  /// The defaults for fine-tuning the model of a folder.
  static AnswerTrainingOptions finetune(std::filesystem::path from);
  /// Visits the options that must not change when a run is resumed, besides those of the model and the tokenizer.
  void visit(auto&& v) const {
    v("validation_share", validation_share), v("test_share", test_share), v("split_seed", split_seed);
    v("language", language), v("max_answer_tokens", max_answer_tokens);
    v("max_tokens", windows.max_tokens), v("overlap", windows.overlap);
    v("batch_tokens", batch_tokens), v("batch", batch), v("word_dropout", word_dropout);
    v("fixed_vectors", fixed_vectors), v("frozen_layers", frozen_layers), v("trainer", trainer);
    if (lora.on()) v("lora", lora);
  }
};

/// Trains a model and saves it to options.trainer.output. Scores: "f1", "exact_match" and "loss". Throws
/// InputError if a file or an option is wrong.
TrainingResult train_answers(const AnswerTrainingOptions& options, const TrainingObserver& observer = {});

}  // namespace attend
