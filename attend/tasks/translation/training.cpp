#include "attend/tasks/translation/training.h"

#include "attend/ops/cross_entropy.h"

namespace attend {
namespace {

constexpr std::int32_t kIgnored = -100;

}  // namespace

TranslationTrainee::TranslationTrainee(TranslationTask model, EncodedPairs training, EncodedPairs validation,
                                       const TranslationOptions& options)
    : SampledTrainee(model.parameters, model.save,
                     BatchSampler::pairs(lengths_of(training.sources), lengths_of(training.targets), options.batches)),
      model_(std::move(model)),
      training_(std::move(training)),
      validation_(std::move(validation)),
      options_(options) {}

Trainee::Loss TranslationTrainee::loss_of(const EncodedPairs& pairs, std::span<const std::int64_t> chosen,
                                          float smoothing) const {
  const TokenBatch sources = pad(pairs.sources, chosen, options_.padding);
  const TokenBatch targets = pad(pairs.targets, chosen, kIgnored);
  TokenBatch words{targets.ids.copy(), targets.lengths, targets.tokens};  // what stands before each target
  const std::int64_t B = words.ids.dim(0), T = words.ids.dim(1);
  for (std::int64_t b = 0; b < B; ++b) {
    const std::int32_t* said = targets.ids.data<std::int32_t>() + b * T;
    std::int32_t* before = words.ids.data<std::int32_t>() + b * T;
    for (std::int64_t t = T - 1; t > 0; --t) before[t] = said[t - 1] == kIgnored ? options_.padding : said[t - 1];
    before[0] = options_.start;
  }
  const Tensor logits = model_.logits(sources, words);
  return {cross_entropy(logits, targets.ids,
                        {.label_smoothing = smoothing, .ignored = kIgnored, .reduction = Reduction::sum}),
          targets.tokens, sources.tokens + targets.tokens};
}

Trainee::Loss TranslationTrainee::next() { return loss_of(training_, choose(), options_.label_smoothing); }

Scores TranslationTrainee::judge() {
  Scores scores;
  if (validation_.size() > 0) {
    BatchOptions all = options_.batches;
    all.shuffle = false;
    BatchSampler sampler = BatchSampler::pairs(lengths_of(validation_.sources), lengths_of(validation_.targets), all);
    double sum = 0;
    std::int64_t targets = 0;
    for (std::int64_t i = sampler.batches(); i > 0; --i) {
      const Loss loss = loss_of(validation_, sampler.next(), 0.f);
      sum += loss.sum.item(), targets += loss.targets;
    }
    scores.emplace_back("loss", sum / static_cast<double>(targets));
  }
  if (model_.judge)
    for (auto& score : model_.judge()) scores.push_back(std::move(score));
  return scores;
}

}  // namespace attend
