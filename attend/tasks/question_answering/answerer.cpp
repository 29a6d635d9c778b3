#include "attend/tasks/question_answering/answerer.h"

#include <algorithm>
#include <cmath>
#include <map>

#include "attend/core/error.h"
#include "attend/core/finite.h"
#include "attend/core/stop.h"
#include "attend/core/threads.h"
#include "attend/data/batches.h"
#include "attend/ops/tape.h"

namespace attend {
namespace {

/// The softmax of the logits over the tokens of the text and the first token, which means "no answer". The probability
/// of all other tokens is 0.
std::vector<double> softmax(const float* logits, const SpanWindow& window) {
  std::vector<double> p(window.ids.size());
  double largest = logits[0], sum = 0;
  for (std::size_t i = window.begin; i < window.end; ++i) largest = std::max(largest, static_cast<double>(logits[i]));
  const auto count = [&](std::size_t i) { sum += p[i] = std::exp(static_cast<double>(logits[i]) - largest); };
  count(0);
  for (std::size_t i = window.begin; i < window.end; ++i) count(i);
  for (double& value : p) value /= sum;
  return p;
}

/// Collects the answers of one question from all of its windows.
class Collector {
 public:
  void add(const SpanWindow& window, const SpanProbabilities& p, const AnswerOptions& options) {
    no_answer_ = std::min(no_answer_, p.start[0] * p.end[0]);
    const auto longest = static_cast<std::size_t>(options.max_answer_tokens);
    for (std::size_t i = window.begin; i < window.end; ++i)
      for (std::size_t j = i; j < std::min(window.end, i + longest); ++j) {
        const double score = p.start[i] * p.end[j];
        if (options.top == 1 && score <= best_) continue;
        best_ = std::max(best_, score);
        const Span span = window.words_between(i, j);
        Found& known = found_[{span.begin, span.end}];
        if (score > known.score) known = {score, {window.spans[window.begin].begin, window.spans[window.end - 1].end}};
      }
  }

  std::vector<Answer> answers(const AnswerOptions& options) const {
    std::vector<Answer> answers;
    for (const auto& [place, best] : found_) answers.push_back({{place.first, place.second}, best.score, best.window});
    if (options.may_lack) answers.push_back({{}, no_answer_});
    std::ranges::stable_sort(answers, std::greater(), &Answer::score);
    if (std::ssize(answers) > options.top) answers.resize(static_cast<std::size_t>(options.top));
    return answers;
  }

 private:
  struct Found {
    double score = -1;
    Span window;
  };
  // The best score of each byte range; several token pairs and windows may give the same range.
  std::map<std::pair<std::int64_t, std::int64_t>, Found> found_;
  double best_ = -1;      // of all ranges
  double no_answer_ = 1;  // the smallest probability of "no answer" over all windows
};

}  // namespace

std::vector<Answer> Answerer::operator()(const std::string& question, const std::string& text,
                                         const AnswerOptions& options) const {
  const TextQuestion one{question, text};
  return std::move((*this)(std::span(&one, 1), options).front());
}

std::vector<std::vector<Answer>> Answerer::operator()(std::span<const TextQuestion> questions,
                                                      const AnswerOptions& options, const Progress& progress,
                                                      const SeeWindow& see) const {
  const NoGrad no_grad;
  if (options.top < 1 || options.max_answer_tokens < 1)
    fail<InputError>("answer", "top and max_answer_tokens must be at least 1: got ", options.top, " and ",
                     options.max_answer_tokens);
  std::vector<std::vector<Answer>> all;
  constexpr std::size_t kBlock = 512;  // questions whose windows are in memory
  for (std::size_t first = 0; first < questions.size(); first += kBlock) {
    const std::span<const TextQuestion> block = questions.subspan(first, std::min(kBlock, questions.size() - first));
    std::vector<std::vector<SpanWindow>> windows(block.size());
    parallel_tasks(std::ssize(block), [&](std::int64_t i) {
      const auto q = static_cast<std::size_t>(i);
      windows[q] = reader_->windows(block[q].question, block[q].text, options.windows);
    });
    std::vector<const SpanWindow*> list;
    std::vector<std::size_t> owners;
    std::vector<std::int32_t> lengths;
    for (std::size_t q = 0; q < block.size(); ++q)
      for (const SpanWindow& window : windows[q])
        list.push_back(&window), owners.push_back(q), lengths.push_back(static_cast<std::int32_t>(window.size()));
    std::vector<Collector> found(block.size());
    if (!list.empty()) {
      BatchSampler sampler(lengths, {.max_tokens = options.batch_tokens, .shuffle = false});
      for (std::int64_t batch = sampler.batches(); batch > 0; --batch) {
        check_stop();
        const std::vector<std::int64_t> chosen = sampler.next();
        std::vector<const SpanWindow*> together;
        for (const std::int64_t i : chosen) together.push_back(list[static_cast<std::size_t>(i)]);
        const SpanLogits logits = reader_->find_spans(reader_->input(together), nullptr);
        check_finite("answer", logits.start.span());
        check_finite("answer", logits.end.span());
        for (std::size_t b = 0; b < chosen.size(); ++b) {
          const auto row = static_cast<std::int64_t>(b) * logits.start.dim(1);
          const SpanProbabilities p{softmax(logits.start.data() + row, *together[b]),
                                    softmax(logits.end.data() + row, *together[b])};
          const std::size_t owner = owners[static_cast<std::size_t>(chosen[b])];
          found[owner].add(*together[b], p, options);
          if (see) see(first + owner, *together[b], p);
        }
      }
    }
    for (const Collector& one : found) all.push_back(one.answers(options));
    if (progress) progress(static_cast<std::int64_t>(first + block.size()), std::ssize(questions));
  }
  return all;
}

}  // namespace attend
