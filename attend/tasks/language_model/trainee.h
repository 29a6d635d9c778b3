// The training of language models, whatever their architecture: random windows of a long text, in which each token is
// predicted from those before it. train_language_model() (attend/tasks/language_model/training.h) makes one from files.
#pragma once
#include <functional>
#include <optional>

#include "attend/data/token_store.h"
#include "attend/train/sampled_trainee.h"

namespace attend {

/// A part of a store.
struct StoredText {
  TokenStore store;
  TokenRange range;
};
/// All of a store but its last `share`, for training, and the rest, for validation.
std::pair<StoredText, StoredText> hold_back(const TokenStore& store, double share);

/// A language model as training needs it.
struct TrainableLanguageModel {
  std::vector<NamedTensor> parameters;              ///< leaves of the tape
  std::function<Tensor(const Tensor& ids)> logits;  ///< of the token after each.   int32 [B, T] -> [B, T, V]
  SaveModel save;
};

struct LanguageModelTraineeOptions {
  std::int64_t batch = 12;    ///< windows
  std::int64_t context = 64;  ///< tokens of a window
  std::uint64_t seed = 0;     ///< which windows: see random_windows()
  /// Tokens to evaluate on at most, from the beginning of the validation text; 0: all.
  std::int64_t validation_tokens = 0;
};

class LanguageModelTrainee : public Trainee {
 public:
  /// Throws InputError when the text has no window to learn from.
  LanguageModelTrainee(TrainableLanguageModel model, StoredText training, std::optional<StoredText> validation,
                       const LanguageModelTraineeOptions& options);

  std::vector<NamedTensor> parameters() override { return model_.parameters; }
  Loss next() override;
  BatchPosition position() const override { return position_; }
  void restore(const BatchPosition& position) override;
  /// As many as have about as many tokens as the text in all.
  std::int64_t batches_per_epoch() const override;
  /// "loss" for each token, and "perplexity", in consecutive windows of the validation text.
  Scores evaluate() override;
  void save(const std::filesystem::path& folder) override { model_.save(folder); }

 private:
  Loss loss_of(const WindowBatch& batch) const;

  TrainableLanguageModel model_;
  StoredText training_;
  std::optional<StoredText> validation_;
  LanguageModelTraineeOptions options_;
  BatchPosition position_;
};

}  // namespace attend
