#include "attend/tasks/masked_lm/training_task.h"

#include <algorithm>

#include "attend/ops/arithmetic.h"
#include "attend/ops/cross_entropy.h"
#include "attend/ops/reduce.h"

namespace attend {

PreTrainingTask::PreTrainingTask(const Bert& model, std::vector<NamedTensor> parameters, SaveModel save,
                                 PreTrainingExamples training, PreTrainingExamples validation,
                                 PreTrainingOptions options)
    : SampledTrainingTask(std::move(parameters), std::move(save), BatchSampler(training.lengths(), options.batches)),
      model_(model),
      training_(std::move(training)),
      validation_(std::move(validation)),
      options_(std::move(options)) {}

PreTrainingTask::Batch PreTrainingTask::make_batch(const PreTrainingExamples& from,
                                                   std::span<const std::int64_t> chosen, PhiloxKey key) const {
  std::vector<std::int32_t> ids, types, rows, words, random;
  Batch batch;
  for (const std::int64_t i : chosen) {
    const PreTrainingExample example = from[i];
    std::vector<std::int32_t> text = example.ids;
    const PhiloxKey own{key.seed, key.stream * 0x9E3779B97F4A7C15u + static_cast<std::uint64_t>(i)};
    const MaskedTokens masked = mask_tokens(text, example.begins, options_.masking, own);
    for (const std::int32_t place : masked.positions) rows.push_back(static_cast<std::int32_t>(ids.size()) + place);
    words.insert(words.end(), masked.ids.begin(), masked.ids.end());
    random.push_back(example.random);
    ids.insert(ids.end(), text.begin(), text.end());
    for (std::int64_t t = 0; t < static_cast<std::int64_t>(text.size()); ++t) types.push_back(t >= example.second);
    batch.input.lengths.push_back(static_cast<std::int64_t>(text.size()));
  }
  const auto tensor = [](const std::vector<std::int32_t>& values) {
    return Tensor::ids(values, {static_cast<std::int64_t>(values.size())});
  };
  batch.input.ids = tensor(ids);
  if (model_.options.types > 1) batch.input.types = tensor(types);
  batch.rows = tensor(rows), batch.targets = tensor(words), batch.random = tensor(random);
  return batch;
}

TrainingTask::Loss PreTrainingTask::next() {
  const std::vector<std::int64_t> chosen = choose();
  const Batch batch = make_batch(training_, chosen, default_generator().next());
  const Tensor states = model_.encode(batch.input);
  const std::int64_t targets = batch.targets.numel();
  Tensor sum = cross_entropy(model_.predict_tokens(states, batch.rows), batch.targets, {.reduction = Reduction::sum});
  // The loss is the sum of two means. The trainer divides by the number of targets, so the second mean is multiplied by
  // it.
  if (next_sentence())
    sum = sum + cross_entropy(model_.predict_next_sentence(states, batch.input.lengths), batch.random) *
                    static_cast<float>(targets);
  return {sum, targets, batch.input.ids.numel()};
}

Scores PreTrainingTask::evaluate() {
  if (validation_.size() == 0) return {};
  BatchOptions all = options_.batches;
  all.shuffle = false;
  BatchSampler sampler(validation_.lengths(), all);
  double word_loss = 0, next_loss = 0;
  std::int64_t words = 0, right_words = 0, right_next = 0;
  const auto count_right = [](const Tensor& logits, const Tensor& expected) {
    const Tensor best = argmax(logits, -1);
    std::int64_t right = 0;
    for (std::int64_t i = 0; i < best.numel(); ++i)
      right += best.data<std::int32_t>()[i] == expected.data<std::int32_t>()[i];
    return right;
  };
  for (std::int64_t i = sampler.batches(); i > 0; --i) {
    const Batch batch = make_batch(validation_, sampler.next(), {0, 0});
    const Tensor states = model_.encode(batch.input), logits = model_.predict_tokens(states, batch.rows);
    right_words += count_right(logits, batch.targets), words += batch.targets.numel();
    word_loss += cross_entropy(logits, batch.targets, {.reduction = Reduction::sum}).item();
    if (!next_sentence()) continue;
    const Tensor next = model_.predict_next_sentence(states, batch.input.lengths);
    right_next += count_right(next, batch.random);
    next_loss += cross_entropy(next, batch.random, {.reduction = Reduction::sum}).item();
  }
  const auto mean = [](double sum, std::int64_t count) {
    return sum / static_cast<double>(std::max<std::int64_t>(count, 1));
  };
  const std::int64_t count = validation_.size();
  const double word = mean(word_loss, words), following = mean(next_loss, count);
  Scores scores{{"loss", word + following},
                {"word_loss", word},
                {"word_accuracy", mean(static_cast<double>(right_words), words)}};
  if (next_sentence())
    scores.insert(scores.end(),
                  {{"next_loss", following}, {"next_accuracy", mean(static_cast<double>(right_next), count)}});
  return scores;
}

}  // namespace attend
