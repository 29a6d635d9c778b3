#include "attend/tasks/question_answering/training_task.h"

#include "attend/ops/arithmetic.h"
#include "attend/ops/cross_entropy.h"
#include "attend/train/word_dropout.h"

namespace attend {
namespace {

std::vector<std::int32_t> lengths_of(const std::vector<SpanExample>& examples) {
  std::vector<std::int32_t> lengths;
  for (const SpanExample& example : examples) lengths.push_back(static_cast<std::int32_t>(example.window.size()));
  return lengths;
}

}  // namespace

AnswerTrainingTask::AnswerTrainingTask(TrainableSpanModel model, std::vector<SpanExample> training,
                                       std::vector<Article> validation, AnswerTrainingTaskOptions options)
    : SampledTrainingTask(std::move(model.parameters), std::move(model.save),
                          BatchSampler(lengths_of(training), options.batches)),
      answerer_(std::move(model.reader)),
      training_(std::move(training)),
      validation_(std::move(validation)),
      options_(std::move(options)) {}

TrainingTask::Loss AnswerTrainingTask::next() {
  std::vector<const SpanWindow*> windows;
  std::vector<std::int32_t> starts, ends;
  std::int64_t tokens = 0;
  const PhiloxKey key = default_generator().next();
  for (const std::int64_t i : choose()) {
    const SpanExample& example = training_[static_cast<std::size_t>(i)];
    const std::uint32_t random = philox(key, windows.size())[0];
    const auto [start, end] = example.targets[random % example.targets.size()];
    windows.push_back(&example.window), starts.push_back(start), ends.push_back(end);
    tokens += example.window.size();
  }
  const SpanInput input = answerer_.reader().input(windows);
  if (options_.unknown >= 0 && options_.word_dropout > 0)
    drop_words(input.ids, input.lengths, options_.unknown, options_.never_dropped, options_.word_dropout);
  const SpanLogits logits = answerer_.reader().find_spans(input, nullptr);
  const auto loss = [](const Tensor& scores, const std::vector<std::int32_t>& targets) {
    return cross_entropy(scores, Tensor::ids(targets, {std::ssize(targets)}), {.reduction = Reduction::sum});
  };
  return {loss(logits.start, starts) + loss(logits.end, ends), std::ssize(windows), tokens};
}

Scores AnswerTrainingTask::evaluate() {
  if (validation_.empty()) return {};
  double loss = 0;
  const AnswerPredictions predictions = predict_answers(answerer_, validation_, options_.answers, {}, &loss);
  const AnswerEvaluation found = evaluate_answers(validation_, predictions, options_.rules);
  return {{"f1", found.all.mean_f1()}, {"exact_match", found.all.exact_match()}, {"loss", loss}};
}

}  // namespace attend
