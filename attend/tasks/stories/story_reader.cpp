#include "attend/tasks/stories/story_reader.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <ranges>

#include "attend/core/error.h"
#include "attend/core/finite.h"
#include "attend/ops/cross_entropy.h"
#include "attend/ops/softmax.h"
#include "attend/ops/tape.h"

namespace attend {
namespace {

/// The sentences of a classifier's stories: see save_story_model().
std::int64_t memory_of(const Config& config) {
  return config.has("stories") ? config.object("stories").integer_in("memory", 1, 1'000'000) : 1;
}

AttentionTokens labels(const std::vector<std::string>& texts) {
  AttentionTokens tokens{.shown = texts, .written = texts, .words = {}};
  for (std::size_t i = 0; i < texts.size(); ++i) tokens.words.push_back(static_cast<std::int32_t>(i));
  return tokens;
}

/// The number of sentences that do not fit entirely into a network that reads the story as one sequence.
std::int64_t cut_sentences(const StorySet& set, std::int64_t max_tokens) {
  if (max_tokens == 0) return 0;
  std::int64_t room = max_tokens - std::ssize(set.words(set[0].question)), fit = 0;
  for (const std::int32_t sentence : std::views::reverse(set[0].story)) {
    room -= std::ssize(set.words(sentence)) + 1;  // with the token at its end
    if (room < 0) break;
    ++fit;
  }
  return std::ssize(set[0].story) - fit;
}

}  // namespace

double mean_error(const std::vector<TaskError>& tasks) {
  double sum = 0;
  for (const TaskError& task : tasks) sum += task.error();
  return tasks.empty() ? 0 : sum / static_cast<double>(tasks.size());
}

StoryEvaluation evaluate(const StoryNetwork& network, const StorySet& set) {
  const NoGrad no_grad;
  std::map<int, TaskError> tasks;
  StoryEvaluation result;
  BatchSampler sampler(set.lengths(), {.max_tokens = 1 << 20, .max_sequences = 128, .shuffle = false});
  for (std::int64_t i = sampler.batches(); i > 0; --i) {
    const std::vector<std::int64_t> chosen = sampler.next();
    const Tensor logits = network.logits(set, chosen, 0, nullptr), answers = set.answers(chosen);
    const std::int64_t A = logits.dim(1);
    for (std::size_t b = 0; b < chosen.size(); ++b) {
      const float* row = logits.data() + static_cast<std::int64_t>(b) * A;
      TaskError& task = tasks[set[chosen[b]].task];
      task.task = set[chosen[b]].task, ++task.questions;
      const std::int32_t answer = answers.data<std::int32_t>()[b];
      task.wrong += std::max_element(row, row + A) - row != answer;
      result.known += answer >= 0;
    }
    result.loss += cross_entropy(logits, answers, {.ignored = -1, .reduction = Reduction::sum}).item();
  }
  for (const auto& [number, task] : tasks) result.tasks.push_back(task);
  return result;
}

StoryReader::StoryReader(const ModelFolder& folder)
    : folder_(folder),
      network_(story_network(folder.model<Model>("stories", Ability::stories), folder.tokenizer(),
                             memory_of(folder.config()))) {}

StoryAnswer StoryReader::operator()(const std::vector<std::string>& story, const std::string& question,
                                    std::int64_t top) const {
  if (story.empty()) fail<InputError>("stories", "there is no sentence before the question \"", question, "\"");
  StorySet set(folder_.tokenizer(), network_.answers, network_.memory);
  set.add(story, question);
  if (set.words(set[0].question).empty()) fail<InputError>("stories", "the question has no words: \"", question, "\"");
  const NoGrad no_grad;
  Probe probe;
  const std::int64_t first = 0;
  const Tensor logits = network_.logits(set, std::span(&first, 1), 0, &probe);
  check_finite("answer", logits.span());
  const Tensor probabilities = softmax(logits);
  StoryAnswer found{.answer = {}, .best = {}, .hops = {}};
  found.dropped = std::ssize(story) - std::ssize(set[0].story) + cut_sentences(set, network_.max_tokens);
  if (const auto unknown = folder_.tokenizer().special().unknown) {
    found.unknown += std::ranges::count(set.words(set[0].question), *unknown);
    for (const std::int32_t sentence : set[0].story) found.unknown += std::ranges::count(set.words(sentence), *unknown);
  }
  std::vector<std::size_t> order(network_.answers.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::stable_sort(order, std::greater(), [&](std::size_t i) { return probabilities.data()[i]; });
  for (const std::size_t i : std::span(order).first(std::min(order.size(), static_cast<std::size_t>(top))))
    found.best.emplace_back(network_.answers[i], probabilities.data()[i]);
  found.answer = network_.answers[order.front()], found.prob = probabilities.data()[order.front()];
  for (const Probe::Record& record : probe.records()) {
    std::vector<float> weights(static_cast<std::size_t>(found.dropped), 0.f);
    weights.insert(weights.end(), record.weights.data(), record.weights.data() + record.weights.numel());
    found.hops.push_back(std::move(weights));
  }
  return found;
}

AttentionMap StoryReader::attention(const std::vector<std::string>& story, const std::string& question,
                                    const StoryAnswer& answer) const {
  if (answer.hops.empty())
    fail<InputError>("attention", folder_.path().string(),
                     ": is not a memory network, so it has no hops over the sentences of a story");
  const auto K = std::ssize(answer.hops), S = std::ssize(story);
  std::vector<std::string> names;
  AttentionView view{.kind = AttentionKind::memory, .keys = labels(story), .layers = {0}, .heads = {0}};
  view.weights = {Tensor::empty({1, K, S})};
  for (std::int64_t k = 0; k < K; ++k) {
    names.push_back("hop " + std::to_string(k + 1));
    std::ranges::copy(answer.hops[static_cast<std::size_t>(k)], view.weights[0].data() + k * S);
  }
  view.queries = labels(names);
  AttentionMap map;
  map.kind = folder_.family().type, map.text = question + " " + answer.answer;
  map.views.push_back(std::move(view));
  return map;
}

std::vector<TaskError> StoryReader::evaluate(const std::vector<Story>& stories) const {
  StorySet set(folder_.tokenizer(), network_.answers, network_.memory);
  for (const Story& story : stories) set.add(story);
  StoryEvaluation result = attend::evaluate(network_, set);
  if (!std::isfinite(result.loss)) fail_not_finite("evaluate");
  return std::move(result.tasks);
}

}  // namespace attend
