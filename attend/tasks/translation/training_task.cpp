#include "attend/tasks/translation/training_task.h"

#include <utility>

#include "attend/ops/arithmetic.h"
#include "attend/ops/cross_entropy.h"
#include "attend/ops/pointer.h"

namespace attend {
namespace {

constexpr std::int32_t kIgnored = -100;

BatchSampler sampler_of(const ExampleStore& pairs, const BatchOptions& options) {
  return BatchSampler::pairs(pairs.has_features() ? pairs.feature_lengths() : pairs.lengths(kSourceField),
                             pairs.lengths(kTargetField), options);
}

TokenBatch sources_of(const ExampleStore& pairs, std::int64_t field, std::span<const std::int64_t> chosen,
                      std::int32_t padding) {
  if (!pairs.has_features()) return pad(pairs, field, chosen, padding);
  const FeatureBatch batch = pad_features(pairs, chosen);
  return {batch.features, batch.lengths, batch.frames};
}

}  // namespace

TranslationTrainingTask::TranslationTrainingTask(const TrainableTranslator& model, ExampleStore training,
                                                 ExampleStore validation, TranslationTrainingTaskOptions options)
    : SampledTrainingTask(model.parameters, model.save, sampler_of(training, options.batches)),
      model_(model),
      training_(std::move(training)),
      validation_(std::move(validation)),
      options_(std::move(options)) {}

TrainingTask::Loss TranslationTrainingTask::loss_of(const ExampleStore& pairs, std::span<const std::int64_t> chosen,
                                                    const Objective& objective) const {
  const TokenBatch sources =
      sources_of(pairs, objective.first ? kFirstSourceField : kSourceField, chosen, options_.padding);
  const TokenBatch targets = pad(pairs, objective.first ? kFirstTargetField : kTargetField, chosen, kIgnored);
  TokenBatch inputs{targets.ids.copy(), targets.lengths, targets.tokens};  // the token before each target
  const std::int64_t B = inputs.ids.dim(0), T = inputs.ids.dim(1);
  for (std::int64_t b = 0; b < B; ++b) {
    const std::int32_t* target = targets.ids.data<std::int32_t>() + b * T;
    std::int32_t* input = inputs.ids.data<std::int32_t>() + b * T;
    for (std::int64_t t = T - 1; t > 0; --t) input[t] = target[t - 1] == kIgnored ? options_.padding : target[t - 1];
    input[0] = model_.start;
  }
  Predictions predicted = model_.predict(sources, inputs);
  Tensor loss =
      cross_entropy(std::exchange(predicted.logits, {}), targets.ids,
                    {.label_smoothing = objective.smoothing, .ignored = kIgnored, .reduction = Reduction::sum});
  if (objective.coverage > 0) loss = loss + coverage_loss(predicted.copying, targets.lengths) * objective.coverage;
  return {std::move(loss), targets.tokens, sources.tokens + targets.tokens};
}

TrainingTask::Loss TranslationTrainingTask::next() {
  const bool first = position().epoch < options_.first_epochs;
  return loss_of(training_, choose(), {options_.label_smoothing, options_.coverage, first});
}

Scores TranslationTrainingTask::evaluate() {
  Scores scores;
  if (validation_.size() > 0) {
    BatchOptions all = options_.batches;
    all.shuffle = false;
    BatchSampler sampler = sampler_of(validation_, all);
    double sum = 0;
    std::int64_t targets = 0;
    for (std::int64_t i = sampler.batches(); i > 0; --i) {
      const Loss loss = loss_of(validation_, sampler.next(), {});
      sum += loss.sum.item(), targets += loss.targets;
    }
    scores.emplace_back("loss", sum / static_cast<double>(targets));
  }
  if (options_.evaluate)
    for (auto& score : options_.evaluate()) scores.push_back(std::move(score));
  return scores;
}

}  // namespace attend
