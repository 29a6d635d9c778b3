#include "attend/tasks/dialogue/training_task.h"

#include <algorithm>

#include "attend/metrics/perplexity.h"
#include "attend/ops/cross_entropy.h"

namespace attend {

DialogueBatch dialogue_batch(const ExampleStore& dialogues, std::span<const std::int64_t> chosen, LossOn loss_on) {
  std::vector<std::vector<std::int32_t>> texts;
  std::size_t T = 0;
  for (const std::int64_t i : chosen) {
    texts.push_back(dialogues.read(i, kDialogueField));
    T = std::max(T, texts.back().size() - 1);
  }
  std::vector<std::int32_t> places, targets;
  DialogueBatch batch;
  for (std::size_t b = 0; b < texts.size(); ++b) {
    const std::vector<std::int32_t>& text = texts[b];
    const auto learn = [&](std::size_t begin, std::size_t end) {
      for (std::size_t t = std::max<std::size_t>(begin, 1); t < end; ++t) {
        places.push_back(static_cast<std::int32_t>(b * T + t - 1));
        targets.push_back(text[t]);
      }
    };
    const std::vector<std::int32_t> replies = dialogues.read(chosen[b], kReplyField);
    if (loss_on == LossOn::all)
      learn(1, text.size());
    else
      for (std::size_t r = 0; r + 1 < replies.size(); r += 2)
        learn(static_cast<std::size_t>(replies[r]), static_cast<std::size_t>(replies[r + 1]));
    batch.tokens += std::ssize(text);
  }
  std::vector<std::span<const std::int32_t>> inputs;
  for (const std::vector<std::int32_t>& text : texts) inputs.push_back(std::span(text).first(text.size() - 1));
  batch.ids = pad(inputs, 0).ids;
  batch.places = Tensor::ids(places, {std::ssize(places)}), batch.targets = Tensor::ids(targets, {std::ssize(targets)});
  return batch;
}

DialogueTrainingTask::DialogueTrainingTask(TrainableDialogueModel model, ExampleStore training, ExampleStore validation,
                                           const DialogueTrainingTaskOptions& options)
    : SampledTrainingTask(model.parameters, model.save,
                          BatchSampler(training.lengths(kDialogueField), options.batches)),
      model_(std::move(model)),
      training_(std::move(training)),
      validation_(std::move(validation)),
      options_(options) {}

TrainingTask::Loss DialogueTrainingTask::loss_of(const DialogueBatch& batch) const {
  return {cross_entropy(model_.logits(batch.ids, batch.places), batch.targets, {.reduction = Reduction::sum}),
          batch.targets.numel(), batch.tokens};
}

Scores DialogueTrainingTask::evaluate() {
  if (validation_.size() == 0) return {};
  BatchOptions all = options_.batches;
  all.shuffle = false;
  BatchSampler sampler(validation_.lengths(kDialogueField), all);
  Likelihood sum;
  for (std::int64_t i = sampler.batches(); i > 0; --i) {
    const Loss loss = loss_of(dialogue_batch(validation_, sampler.next(), LossOn::replies));
    sum += {.logprob = -static_cast<double>(loss.sum.item()), .tokens = loss.targets};
  }
  return {{"loss", -sum.logprob / static_cast<double>(sum.tokens)}, {"perplexity", sum.perplexity()}};
}

}  // namespace attend
