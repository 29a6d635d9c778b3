// The training task of language models of any architecture. A batch is random windows of a long text; each token is
// predicted from the tokens before it. train_language_model() (attend/tasks/language_model/training.h) makes a task
// from files.
#pragma once
#include <functional>
#include <optional>

#include "attend/data/token_store.h"
#include "attend/train/sampled_training_task.h"

namespace attend {

/// A part of a token store.
struct StoredText {
  TokenStore store;
  TokenRange range;
};
/// Splits a store into training and validation text. The last `share` of the tokens is for validation.
std::pair<StoredText, StoredText> hold_back(const TokenStore& store, double share);

/// The functions of a language model that training needs.
struct TrainableLanguageModel {
  std::vector<NamedTensor> parameters;              ///< leaves of the tape
  std::function<Tensor(const Tensor& ids)> logits;  ///< of the token after each id.   int32 [B, T] -> [B, T, V]
  SaveModel save;
};

struct LanguageModelTrainingTaskOptions {
  std::int64_t batch = 12;    ///< windows in a batch
  std::int64_t context = 64;  ///< tokens in a window
  std::uint64_t seed = 0;     ///< of the random windows: see random_windows()
  /// The maximum number of tokens to evaluate on, from the beginning of the validation text; 0: all.
  std::int64_t validation_tokens = 0;
};

class LanguageModelTrainingTask : public TrainingTask {
 public:
  /// Throws InputError if the training text is shorter than a window.
  LanguageModelTrainingTask(TrainableLanguageModel model, StoredText training, std::optional<StoredText> validation,
                            const LanguageModelTrainingTaskOptions& options);

  std::vector<NamedTensor> parameters() override { return model_.parameters; }
  Loss next() override;
  BatchPosition position() const override { return position_; }
  void restore(const BatchPosition& position) override;
  /// The number of batches that together have about as many tokens as the training text.
  std::int64_t batches_per_epoch() const override;
  /// "loss" per token and "perplexity" over consecutive windows of the validation text.
  Scores evaluate() override;
  void save(const std::filesystem::path& folder) override { model_.save(folder); }

 private:
  Loss loss_of(const WindowBatch& batch) const;

  TrainableLanguageModel model_;
  StoredText training_;
  std::optional<StoredText> validation_;
  LanguageModelTrainingTaskOptions options_;
  BatchPosition position_;
};

}  // namespace attend
