#include "attend/train/classifier.h"

#include "attend/core/random.h"
#include "attend/ops/cross_entropy.h"
#include "attend/ops/reduce.h"
#include "attend/train/classification.h"

namespace attend {
namespace {

Tensor labels_of(const LabelledTexts& texts, std::span<const std::int64_t> chosen) {
  std::vector<std::int32_t> labels;
  for (const std::int64_t i : chosen) labels.push_back(texts.labels[static_cast<std::size_t>(i)]);
  return Tensor::ids(labels, {static_cast<std::int64_t>(labels.size())});
}

/// Hides words at random: each id that is no padding becomes `unknown` with probability p.
void hide_words(const TokenBatch& batch, std::int32_t unknown, float p) {
  const PhiloxKey key = default_generator().next();
  const std::int64_t T = batch.ids.dim(1);
  for (std::int64_t b = 0; b < batch.ids.dim(0); ++b)
    for (std::int64_t t = 0; t < batch.lengths.data<std::int32_t>()[b]; ++t)
      if (uniform_from(philox(key, static_cast<std::uint64_t>(b * T + t))[0]) < p)
        batch.ids.data<std::int32_t>()[b * T + t] = unknown;
}

}  // namespace

ClassifierTrainee::ClassifierTrainee(ClassifierModel model, std::vector<std::string> labels, LabelledTexts training,
                                     LabelledTexts validation, const ClassifierTrainingOptions& options)
    : SampledTrainee(model.parameters, model.save, BatchSampler(lengths_of(training.texts), options.batches)),
      model_(std::move(model)),
      labels_(std::move(labels)),
      training_(std::move(training)),
      validation_(std::move(validation)),
      options_(options) {}

Trainee::Loss ClassifierTrainee::next() {
  const std::vector<std::int64_t> chosen = choose();
  const TokenBatch batch = pad(training_.texts, chosen, options_.padding);
  if (options_.unknown >= 0 && options_.word_dropout > 0) hide_words(batch, options_.unknown, options_.word_dropout);
  return {cross_entropy(model_.logits(batch), labels_of(training_, chosen),
                        {.label_smoothing = options_.label_smoothing, .reduction = Reduction::sum}),
          static_cast<std::int64_t>(chosen.size()), batch.tokens};
}

Scores ClassifierTrainee::judge() {
  if (validation_.size() == 0) return {};
  BatchOptions all = options_.batches;
  all.shuffle = false;
  BatchSampler sampler(lengths_of(validation_.texts), all);
  std::vector<std::string> predicted, expected;
  double sum = 0;
  for (std::int64_t i = sampler.batches(); i > 0; --i) {
    const std::vector<std::int64_t> chosen = sampler.next();
    const Tensor logits = model_.logits(pad(validation_.texts, chosen, options_.padding));
    const Tensor labels = labels_of(validation_, chosen), best = argmax(logits, -1);
    sum += cross_entropy(logits, labels, {.reduction = Reduction::sum}).item();
    for (std::int64_t b = 0; b < labels.numel(); ++b) {
      predicted.push_back(labels_[static_cast<std::size_t>(best.data<std::int32_t>()[b])]);
      expected.push_back(labels_[static_cast<std::size_t>(labels.data<std::int32_t>()[b])]);
    }
  }
  const ClassificationScores scores = classification_scores(predicted, expected);
  return {{"accuracy", scores.accuracy()},
          {"f1", scores.macro_f1()},
          {"loss", sum / static_cast<double>(validation_.size())}};
}

}  // namespace attend
