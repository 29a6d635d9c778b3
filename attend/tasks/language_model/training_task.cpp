#include "attend/tasks/language_model/training_task.h"

#include <algorithm>
#include <cmath>

#include "attend/core/error.h"
#include "attend/ops/cross_entropy.h"

namespace attend {

std::pair<StoredText, StoredText> hold_back(const TokenStore& store, double share) {
  if (!(share >= 0 && share < 1)) fail<InputError>("train", "the share to hold back must be below 1: got ", share);
  const std::int64_t size = store.size(), back = static_cast<std::int64_t>(static_cast<double>(size) * share);
  return {{store, {0, size - back}}, {store, {size - back, size}}};
}

LanguageModelTrainingTask::LanguageModelTrainingTask(TrainableLanguageModel model, StoredText training,
                                                     std::optional<StoredText> validation,
                                                     const LanguageModelTrainingTaskOptions& options)
    : model_(std::move(model)),
      training_(std::move(training)),
      validation_(std::move(validation)),
      options_(options),
      position_{.seed = options.seed} {
  if (training_.range.size() <= options_.context)
    fail<InputError>("train", "the text is too short: got ", training_.range.size(),
                     " tokens to learn from, expected more than a window of ", options_.context);
}

std::int64_t LanguageModelTrainingTask::batches_per_epoch() const {
  return std::max<std::int64_t>(training_.range.size() / (options_.batch * options_.context), 1);
}

void LanguageModelTrainingTask::restore(const BatchPosition& position) {
  if (position.batch < 0 || position.epoch < 0 || position.batch >= batches_per_epoch())
    fail<InputError>("train", "there is no batch ", position.batch, " in an epoch of ", batches_per_epoch());
  position_ = position;
}

TrainingTask::Loss LanguageModelTrainingTask::loss_of(const WindowBatch& batch) const {
  constexpr std::int32_t kIgnored = -100;
  return {cross_entropy(model_.logits(batch.inputs), batch.targets, {.ignored = kIgnored, .reduction = Reduction::sum}),
          batch.tokens, batch.tokens};
}

TrainingTask::Loss LanguageModelTrainingTask::next() {
  // Beside the streams of the same seed that dropout draws from.
  constexpr std::uint64_t kWindows = 0x77696e646f777321;
  const auto step = static_cast<std::uint64_t>(position_.epoch * batches_per_epoch() + position_.batch);
  const WindowBatch batch = random_windows(training_.store, training_.range, options_.batch, options_.context,
                                           {position_.seed ^ kWindows, step});
  if (++position_.batch == batches_per_epoch()) ++position_.epoch, position_.batch = 0;
  return loss_of(batch);
}

Scores LanguageModelTrainingTask::evaluate() {
  if (!validation_ || validation_->range.size() < 2) return {};
  TokenRange text = validation_->range;
  if (options_.validation_tokens > 0) text.end = std::min(text.end, text.begin + options_.validation_tokens + 1);
  std::vector<TokenRange> windows;
  for (std::int64_t begin = text.begin; begin + 1 < text.end; begin += options_.context)
    windows.push_back({begin, std::min(begin + options_.context + 1, text.end)});
  // At least as many tokens at once as in training: small batches would be slow.
  const auto rows = static_cast<std::size_t>(std::max(options_.batch, std::int64_t{2048} / options_.context));
  double sum = 0;
  std::int64_t targets = 0;
  for (std::size_t first = 0; first < windows.size(); first += rows) {
    const std::span<const TokenRange> some = std::span(windows).subspan(first, std::min(rows, windows.size() - first));
    const Loss loss = loss_of(window_batch(validation_->store, some));
    sum += loss.sum.item(), targets += loss.targets;
  }
  const double loss = sum / static_cast<double>(targets);
  return {{"loss", loss}, {"perplexity", std::exp(loss)}};
}

}  // namespace attend
