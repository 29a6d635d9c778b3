#include "attend/tasks/classification/training_task.h"

#include <algorithm>

#include "attend/core/random.h"
#include "attend/metrics/classification.h"
#include "attend/ops/activation.h"
#include "attend/ops/arithmetic.h"
#include "attend/ops/concat.h"
#include "attend/ops/cross_entropy.h"
#include "attend/ops/gather.h"
#include "attend/ops/reduce.h"
#include "attend/ops/softmax.h"
#include "attend/train/word_dropout.h"

namespace attend {
namespace {

/// The label of each text, which has exactly one.   -> int32 [B]
Tensor label_of(const ExampleStore& texts, std::span<const std::int64_t> chosen) {
  std::vector<std::int32_t> labels;
  for (const std::int64_t i : chosen) labels.push_back(texts.read(i, kLabelField).front());
  return Tensor::ids(labels, {static_cast<std::int64_t>(labels.size())});
}

/// 1 for each label that a text has, 0 for the others.   -> int32 [B · labels]
Tensor flags_of(const ExampleStore& texts, std::span<const std::int64_t> chosen, std::size_t labels) {
  std::vector<std::int32_t> flags(chosen.size() * labels);
  for (std::size_t b = 0; b < chosen.size(); ++b)
    for (const std::int32_t label : texts.read(chosen[b], kLabelField))
      flags[b * labels + static_cast<std::size_t>(label)] = 1;
  return Tensor::ids(flags, {static_cast<std::int64_t>(flags.size())});
}

/// The sum of the binary cross-entropies of all labels.   logits [B, labels], flags int32 [B · labels]
Tensor several_labels_loss(const Tensor& logits, const Tensor& flags) {
  const Tensor holds = logits.reshape({logits.numel(), 1});
  return cross_entropy(concat({Tensor::zeros(holds.shape()), holds}, 1), flags, {.reduction = Reduction::sum});
}

/// The divergence between the two predictions p and q of each text, summed over the texts: the mean of both KL
/// divergences, ½ Σ (p - q) · (log p - log q). Logits can replace the logarithms: they differ by a constant for each
/// text, and p - q sums to 0.   logits [2 B, labels], where rows b and B + b are the same text
Tensor disagreement(const Tensor& logits, bool several_labels) {
  const auto rows = static_cast<std::int32_t>(logits.dim(0));
  std::vector<std::int32_t> other;
  for (std::int32_t row = 0; row < rows; ++row) other.push_back((row + rows / 2) % rows);
  const Tensor swap = Tensor::ids(other, {rows});
  const Tensor probabilities = several_labels ? sigmoid(logits) : softmax(logits);
  const auto difference = [&](const Tensor& x) { return x - index_select(x, swap, 0); };
  return sum(difference(probabilities) * difference(logits)) * 0.25f;  // the sum counts every text twice
}

/// Counts correct predictions.
struct Count {
  std::int64_t texts = 0, right = 0;
  std::vector<LabelScore> labels;

  void add(const std::vector<bool>& predicted, const std::vector<bool>& expected) {
    ++texts, right += predicted == expected;
    for (std::size_t i = 0; i < labels.size(); ++i) {
      labels[i].expected += expected[i], labels[i].predicted += predicted[i];
      labels[i].correct += expected[i] && predicted[i];
    }
  }
  double accuracy() const { return static_cast<double>(right) / static_cast<double>(texts); }
  /// The mean F1 over the labels that occur in the texts or in the predictions.
  double macro_f1() const {
    double sum = 0;
    std::int64_t there = 0;
    for (const LabelScore& label : labels) sum += label.f1(), there += label.expected + label.predicted > 0;
    return there == 0 ? 0 : sum / static_cast<double>(there);
  }
};

}  // namespace

std::vector<float> balanced_weights(const ExampleStore& texts, std::size_t labels) {
  std::vector<std::int64_t> counts(labels);
  std::int64_t all = 0;
  for (std::int64_t i = 0; i < texts.size(); ++i)
    for (const std::int32_t label : texts.read(i, kLabelField)) ++counts[static_cast<std::size_t>(label)], ++all;
  std::vector<float> weights;
  for (const std::int64_t count : counts)
    weights.push_back(count == 0 ? 0.f
                                 : static_cast<float>(all) / static_cast<float>(count) / static_cast<float>(labels));
  return weights;
}

ClassifierTrainingTask::ClassifierTrainingTask(TrainableClassifier model, std::int64_t labels, ExampleStore training,
                                               ExampleStore validation, ClassifierTrainingTaskOptions options)
    : SampledTrainingTask(model.parameters, model.save, BatchSampler(training.lengths(kTextField), options.batches)),
      model_(std::move(model)),
      labels_(static_cast<std::size_t>(labels)),
      training_(std::move(training)),
      validation_(std::move(validation)),
      options_(std::move(options)) {}

Tensor ClassifierTrainingTask::logits(const ExampleStore& texts, const TokenBatch& batch,
                                      std::span<const std::int64_t> chosen) const {
  return model_.logits(batch, options_.types ? pad(texts, kTypeField, chosen, 0).ids : Tensor());
}

TrainingTask::Loss ClassifierTrainingTask::next() {
  std::vector<std::int64_t> chosen = choose();
  if (const std::size_t count = chosen.size(); options_.consistency > 0) {
    chosen.resize(2 * count);
    std::copy_n(chosen.begin(), count, chosen.begin() + static_cast<std::ptrdiff_t>(count));
  }
  const TokenBatch batch = pad(training_, kTextField, chosen, options_.padding);
  if (options_.unknown >= 0 && options_.word_dropout > 0)
    drop_words(batch.ids, batch.lengths, options_.unknown, options_.never_dropped, options_.word_dropout);
  const Tensor scores = logits(training_, batch, chosen);
  // With consistency every text is in the batch twice, and the trainer divides by the size of the batch.
  const auto with_consistency = [&](const Tensor& loss) {
    if (options_.consistency == 0) return loss;
    return loss + disagreement(scores, options_.several_labels) * (2 * options_.consistency);
  };
  const auto count = static_cast<std::int64_t>(chosen.size());
  if (options_.several_labels)
    return {with_consistency(several_labels_loss(scores, flags_of(training_, chosen, labels_))),
            count * static_cast<std::int64_t>(labels_), batch.tokens};
  const Tensor labels = label_of(training_, chosen);
  const CrossEntropyOptions options{.label_smoothing = options_.label_smoothing, .reduction = Reduction::none};
  Tensor losses = cross_entropy(scores, labels, options);
  if (!options_.label_weights.empty()) {
    Tensor weights = Tensor::empty({count});
    for (std::int64_t b = 0; b < count; ++b)
      weights.data()[b] = options_.label_weights[static_cast<std::size_t>(labels.data<std::int32_t>()[b])];
    losses = losses * weights;
  }
  return {with_consistency(sum(losses)), count, batch.tokens};
}

Scores ClassifierTrainingTask::evaluate() {
  if (validation_.size() == 0) return {};
  BatchOptions all = options_.batches;
  all.shuffle = false;
  BatchSampler sampler(validation_.lengths(kTextField), all);
  Count count;
  count.labels.resize(labels_);
  double loss = 0;
  for (std::int64_t i = sampler.batches(); i > 0; --i) {
    const std::vector<std::int64_t> chosen = sampler.next();
    const Tensor scores = logits(validation_, pad(validation_, kTextField, chosen, options_.padding), chosen);
    const Tensor flags = flags_of(validation_, chosen, labels_), best = argmax(scores, -1);
    if (options_.several_labels)
      loss += several_labels_loss(scores, flags).item() / static_cast<double>(labels_);
    else
      loss += cross_entropy(scores, label_of(validation_, chosen), {.reduction = Reduction::sum}).item();
    for (std::size_t b = 0; b < chosen.size(); ++b) {
      std::vector<bool> predicted, expected;
      for (std::size_t label = 0; label < labels_; ++label) {
        const std::size_t at = b * labels_ + label;
        expected.push_back(flags.data<std::int32_t>()[at] != 0);
        predicted.push_back(options_.several_labels ? scores.data()[at] > 0
                                                    : best.data<std::int32_t>()[b] == static_cast<std::int32_t>(label));
      }
      count.add(predicted, expected);
    }
  }
  return {{"accuracy", count.accuracy()},
          {"f1", count.macro_f1()},
          {"loss", loss / static_cast<double>(validation_.size())}};
}

}  // namespace attend
