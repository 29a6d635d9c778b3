// Training of language models, whatever their architecture: windows from anywhere in a long text, each token to be
// said after those before it.
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
/// All of a store but its last `share`, and the rest: to learn from, and to judge by.
std::pair<StoredText, StoredText> hold_back(const TokenStore& store, double share);

/// What a language model is to its training.
struct LanguageModelTask {
  std::vector<NamedTensor> parameters;              ///< leaves of the tape
  std::function<Tensor(const Tensor& ids)> logits;  ///< what follows each token.   int32 [B, T] -> [B, T, V]
  SaveModel save;
};

struct LanguageModelTrainingOptions {
  std::int64_t batch = 12;    ///< windows
  std::int64_t context = 64;  ///< tokens of a window
  std::uint64_t seed = 0;     ///< which windows: see random_windows()
  std::int64_t judged = 0;    ///< tokens to judge by at most, from the beginning of those held back; 0: all
};

class LanguageModelTrainee : public Trainee {
 public:
  /// Throws InputError when the text has no window to learn from.
  LanguageModelTrainee(LanguageModelTask model, StoredText training, std::optional<StoredText> validation,
                       const LanguageModelTrainingOptions& options);

  std::vector<NamedTensor> parameters() override { return model_.parameters; }
  Loss next() override;
  BatchPosition position() const override { return position_; }
  void restore(const BatchPosition& position) override;
  /// As many as have about as many tokens as the text.
  std::int64_t batches_per_epoch() const override;
  /// "loss" for each token, and "perplexity", in windows one behind the other; nothing when nothing was held back.
  Scores judge() override;
  void save(const std::filesystem::path& folder) override { model_.save(folder); }

 private:
  Loss loss_of(const WindowBatch& batch) const;

  LanguageModelTask model_;
  StoredText training_;
  std::optional<StoredText> validation_;
  LanguageModelTrainingOptions options_;
  BatchPosition position_;
};

}  // namespace attend
