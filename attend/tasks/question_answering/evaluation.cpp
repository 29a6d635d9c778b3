#include "attend/tasks/question_answering/evaluation.h"

#include <algorithm>
#include <cmath>

#include "attend/core/json.h"
#include "attend/data/text_stream.h"

namespace attend {
namespace {

template <typename F>
void for_each_question(const std::vector<Article>& articles, F f) {
  for (const Article& article : articles)
    for (const Passage& paragraph : article.passages)
      for (const PassageQuestion& question : paragraph.questions) f(paragraph, question);
}

}  // namespace

std::pair<std::int32_t, std::int32_t> target_of(const SpanWindow& window, const ReferenceAnswer* answer) {
  if (!answer || !answer->span) return {0, 0};
  std::size_t first = window.begin, last = window.end;
  while (first < window.end && window.spans[first].end <= answer->span->begin) ++first;
  while (last > window.begin && window.spans[last - 1].begin >= answer->span->end) --last;
  // A neighbouring window may have the rest of the answer.
  if (first >= last || window.spans[first].begin > answer->span->begin ||
      window.spans[last - 1].end < answer->span->end)
    return {0, 0};
  return {static_cast<std::int32_t>(first), static_cast<std::int32_t>(last - 1)};
}

AnswerPredictions predict_answers(const Answerer& answerer, const std::vector<Article>& articles, AnswerOptions options,
                                  const Progress& progress, double* loss) {
  std::vector<TextQuestion> texts;
  std::vector<const PassageQuestion*> questions;
  options.top = 1;
  check_ids(articles);
  for_each_question(articles, [&](const Passage& paragraph, const PassageQuestion& question) {
    if (!answerer.reader().has_room(question.question, options.windows)) return;
    texts.push_back({question.question, paragraph.text}), questions.push_back(&question);
    options.may_lack |= !question.answerable();
  });
  double sum = 0;
  std::int64_t windows = 0;
  const SeeWindow see = [&](std::size_t question, const SpanWindow& window, const SpanProbabilities& p) {
    const PassageQuestion& asked = *questions[question];
    const ReferenceAnswer* answer = asked.found();
    if (asked.answerable() && !answer) return;
    constexpr double kLeast = 1e-30;
    const auto [start, end] = target_of(window, answer);
    sum -= std::log(std::max(p.start[static_cast<std::size_t>(start)], kLeast)) +
           std::log(std::max(p.end[static_cast<std::size_t>(end)], kLeast));
    ++windows;
  };
  const std::vector<std::vector<Answer>> answers = answerer(texts, options, progress, loss ? see : SeeWindow());
  if (loss) *loss = sum / static_cast<double>(std::max<std::int64_t>(windows, 1));
  AnswerPredictions predictions;
  for (std::size_t i = 0; i < questions.size(); ++i) {
    const Span span = answers[i].empty() ? Span{} : answers[i].front().span;
    predictions[questions[i]->id] =
        texts[i].text.substr(static_cast<std::size_t>(span.begin), static_cast<std::size_t>(span.end - span.begin));
  }
  return predictions;
}

AnswerEvaluation evaluate_answers(const std::vector<Article>& articles, const AnswerPredictions& predictions,
                                  const AnswerRules& rules) {
  check_ids(articles);
  AnswerEvaluation result;
  for_each_question(articles, [&](const Passage&, const PassageQuestion& question) {
    const auto found = predictions.find(question.id);
    const AnswerScore score =
        found == predictions.end() ? AnswerScore() : score_answer(found->second, question.references(), rules);
    result.missing += found == predictions.end();
    result.all.add(score);
    (question.answerable() ? result.answerable : result.unanswerable).add(score);
    result.questions.push_back(score);
  });
  return result;
}

AnswerPredictions read_predictions(const std::filesystem::path& file) {
  TextStream stream = TextStream::open(file);
  const JsonDocument document(stream.rest(), stream.name(), "answers");
  if (!document.root().is_object())
    document.root().fail("expected predictions in SQuAD's format: a JSON object, id → text");
  AnswerPredictions predictions;
  document.root().each_member(
      [&](std::string_view id, const JsonValue& answer) { predictions[std::string(id)] = answer.string(); });
  return predictions;
}

}  // namespace attend
