#include "attend/tasks/question_answering/answerer.h"

#include <algorithm>
#include <cmath>
#include <map>

#include "attend/core/error.h"
#include "attend/core/finite.h"
#include "attend/ops/tape.h"

namespace attend {
namespace {

/// The tokens of a window that belong to the text: [begin, end).
struct TokenSpan {
  std::size_t begin, end;
};

TokenSpan text_of(const Encoding& encoding) {
  const std::size_t begin = second_text(encoding);
  std::size_t end = begin;
  while (end < encoding.special.size() && !encoding.special[end]) ++end;
  return {begin, end};
}

/// The softmax of one column of logits [T, 2] over the tokens of the text and the first token, which means "no answer".
/// The probability of all other tokens is 0.
std::vector<double> probabilities(const float* logits, std::size_t column, std::size_t tokens, TokenSpan text) {
  std::vector<double> p(tokens);
  const auto at = [&](std::size_t i) { return static_cast<double>(logits[2 * i + column]); };
  double largest = at(0), sum = 0;
  for (std::size_t i = text.begin; i < text.end; ++i) largest = std::max(largest, at(i));
  const auto count = [&](std::size_t i) { sum += p[i] = std::exp(at(i) - largest); };
  count(0);
  for (std::size_t i = text.begin; i < text.end; ++i) count(i);
  for (double& value : p) value /= sum;
  return p;
}

/// The byte range from the first token to the last one, extended to whole words within this window.
Span words_between(const Encoding& encoding, TokenSpan text, std::size_t first, std::size_t last) {
  while (first > text.begin && encoding.words[first - 1] == encoding.words[first]) --first;
  while (last + 1 < text.end && encoding.words[last + 1] == encoding.words[last]) ++last;
  return {encoding.spans[first].begin, encoding.spans[last].end};
}

}  // namespace

Answerer::Answerer(const ModelFolder& folder)
    : reader_(std::make_shared<BertReader>(folder, BertHead::question_answering)) {}

std::vector<Answer> Answerer::operator()(const std::string& question, const std::string& text,
                                         const AnswerOptions& options) const {
  const NoGrad no_grad;
  const Tokenizer& tokenizer = reader_->tokenizer;
  if (options.top < 1 || options.max_answer_tokens < 1)
    fail<InputError>("answer", "top and max_answer_tokens must be at least 1: got ", options.top, " and ",
                     options.max_answer_tokens);
  const std::int64_t limit =
      options.max_tokens > 0 ? std::min(options.max_tokens, reader_->max_tokens) : reader_->max_tokens;
  // A pair with an empty text has the question and all special tokens.
  const std::int64_t room = limit - tokenizer.encode_pair(question, "").size();
  if (room < 1)
    fail<InputError>("answer", "the question leaves no room for the text: it has ", limit - room, " of ", limit,
                     " tokens");
  std::vector<BertWindow> windows;
  for (Encoding& encoding : tokenizer.encode_pair_windows(question, text,
                                                          {.max_tokens = limit,
                                                          .long_text = LongText::split,
                                                          .overlap = std::min({options.overlap, limit / 2, room - 1})}))
    windows.push_back({windows.size(), std::move(encoding), false});

  std::map<std::pair<std::int64_t, std::int64_t>, double>
      scores;            // the best score of each byte range; several token pairs and windows may give the same range
  double no_answer = 1;  // the smallest probability of "no answer" over all windows
  reader_->read(windows, options.batch_tokens, [&](const BertBatch& batch) {
    const Tensor logits = reader_->model.find_answer(batch.states);
    check_finite("answer", logits.span());
    for (std::size_t b = 0; b < batch.windows.size(); ++b) {
      const Encoding& encoding = windows[batch.windows[b]].encoding;
      const TokenSpan place = text_of(encoding);
      const float* own = logits.data() + 2 * batch.begins[b];
      const std::vector<double> begins = probabilities(own, 0, encoding.ids.size(), place);
      const std::vector<double> ends = probabilities(own, 1, encoding.ids.size(), place);
      no_answer = std::min(no_answer, begins[0] * ends[0]);
      for (std::size_t i = place.begin; i < place.end; ++i)
        for (std::size_t j = i; j < std::min(place.end, i + static_cast<std::size_t>(options.max_answer_tokens)); ++j) {
          const Span span = words_between(encoding, place, i, j);
          double& score = scores[{span.begin, span.end}];
          score = std::max(score, begins[i] * ends[j]);
        }
    }
  });
  std::vector<Answer> answers;
  for (const auto& [place, score] : scores) answers.push_back({{place.first, place.second}, score});
  if (options.may_lack) answers.push_back({{}, no_answer});
  std::ranges::stable_sort(answers, std::greater(), &Answer::score);
  if (std::ssize(answers) > options.top) answers.resize(static_cast<std::size_t>(options.top));
  return answers;
}

}  // namespace attend
