#include "attend/tasks/question_answering/evaluation.h"

#include <gtest/gtest.h>

#include <fstream>

#include "tests/support/errors.h"
#include "tests/tasks/bert_fixture.h"
#include "tests/tasks/question_answering/questions_fixture.h"

namespace attend {
namespace {

using Target = std::pair<std::int32_t, std::int32_t>;

TEST(AnswerEvaluation, TargetsAreTheTokensOfTheAnswer) {
  const std::string text = "red blue green";
  SpanWindow window{"?", text, {9, 1, 2, 3}, {{0, 1}, {0, 3}, {4, 8}, {9, 14}}, {0, 0, 1, 2}, 1, 4};
  const auto target = [&](std::int64_t begin, std::int64_t end) {
    const ReferenceAnswer answer{"", Span{begin, end}};
    return target_of(window, &answer);
  };
  EXPECT_EQ(target(4, 8), (Target{2, 2}));
  EXPECT_EQ(target(0, 14), (Target{1, 3}));
  EXPECT_EQ(target(5, 10), (Target{2, 3}));  // parts of words
  EXPECT_EQ(target_of(window, nullptr), (Target{0, 0}));
  const ReferenceAnswer nowhere{"x", {}};
  EXPECT_EQ(target_of(window, &nowhere), (Target{0, 0}));
  window.end = 3;  // a window without the last word
  EXPECT_EQ(target(4, 8), (Target{2, 2}));
  EXPECT_EQ(target(4, 14), (Target{0, 0}));
  EXPECT_EQ(target(9, 14), (Target{0, 0}));
}

TEST(AnswerEvaluation, PredictionsAreScoredByTheIdsOfTheirQuestions) {
  const std::vector<Article> articles = test::made_up_articles(1, 5, true);
  AnswerPredictions predictions;
  std::int64_t unanswerable = 0;
  for (const Passage& passage : articles[0].passages)
    for (const PassageQuestion& question : passage.questions) {
      predictions[question.id] = question.answerable() ? "The " + question.answers[0].text + "!" : "";
      unanswerable += !question.answerable();
    }
  AnswerEvaluation found = evaluate_answers(articles, predictions, {});
  EXPECT_EQ(found.all.exact_match(), 1);
  EXPECT_EQ(found.all.questions, 20);
  EXPECT_EQ(found.unanswerable.questions, unanswerable);
  EXPECT_EQ(found.missing, 0);
  const PassageQuestion& first = articles[0].passages[0].questions[0];
  predictions[first.id] = "in " + first.answers[0].text, predictions.erase(articles[0].passages[0].questions[1].id);
  found = evaluate_answers(articles, predictions, {});
  EXPECT_EQ(found.all.exact_match(), 0.9);
  EXPECT_NEAR(found.all.mean_f1(), (18 + 2. / 3) / 20, 1e-9);
  EXPECT_EQ(found.missing, 1);
  EXPECT_NEAR(found.questions[0].f1, 2. / 3, 1e-12);
}

TEST(AnswerEvaluation, ManyQuestionsAtOnceHaveTheAnswersOfEachAlone) {
  const Answerer answerer(test::bert_fixture("bert_answers"));
  const std::vector<Article> articles = test::made_up_articles(1, 5, true);
  double loss = 0;
  const AnswerPredictions all = predict_answers(answerer, articles, {.windows = {.max_tokens = 24}}, {}, &loss);
  EXPECT_GT(loss, 0);
  for (const Article& article : articles)
    for (const Passage& passage : article.passages)
      for (const PassageQuestion& question : passage.questions) {
        const Answer alone =
            answerer(question.question, passage.text, {.may_lack = true, .windows = {.max_tokens = 24}}).front();
        EXPECT_EQ(all.at(question.id),
                  passage.text.substr(static_cast<std::size_t>(alone.span.begin),
                                      static_cast<std::size_t>(alone.span.end - alone.span.begin)));
      }
}

TEST(AnswerEvaluation, FilesOfPredictionsAreObjects) {
  const test::TempFolder folder;
  const auto read = [&](const std::string& text) {
    std::ofstream(folder / "p.json") << text;
    return read_predictions(folder / "p.json");
  };
  EXPECT_EQ(read(R"({"a": "x", "b": ""})"), (AnswerPredictions{{"a", "x"}, {"b", ""}}));
  EXPECT_ERROR(read("[]"), "expected predictions in SQuAD's format");
  EXPECT_ERROR(read(R"({"a": 1})"), "p.json: a");
  EXPECT_ERROR(read_predictions(folder / "none"), "none");
}

}  // namespace
}  // namespace attend
