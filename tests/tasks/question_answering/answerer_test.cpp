// Answers are compared with Hugging Face's question-answering pipeline (tests/golden/bert_uses.py).
#include "attend/tasks/question_answering/answerer.h"

#include <gtest/gtest.h>

#include "tests/support/errors.h"
#include "tests/tasks/bert_fixture.h"

namespace attend {
namespace {

using test::bert_fixture;
using test::Expected;

TEST(Answerer, FindsTheAnswersThatHuggingFaceFound) {
  const Answerer answerer(bert_fixture("bert_answers"));
  const Expected expected("bert_answers");
  expected["cases"].each_element([&](JsonValue c) {
    const std::string question(c["question"].string()), text(c["text"].string());
    AnswerOptions options{
        .top = c["top"].integer(), .max_answer_tokens = c["longest"].integer(), .may_lack = c["impossible"].boolean()};
    if (c.find("most")) options.windows = {c["most"].integer(), c["shared"].integer()};
    const std::vector<Answer> answers = answerer(question, text, options);
    ASSERT_EQ(answers.size(), c["answers"].size()) << question;
    for (std::size_t i = 0; i < answers.size(); ++i) {
      const JsonValue wanted = c["answers"][i];
      EXPECT_EQ(answers[i].span.begin, wanted["span"][0].integer()) << question << ", answer " << i;
      EXPECT_EQ(answers[i].span.end, wanted["span"][1].integer()) << question << ", answer " << i;
      EXPECT_NEAR(answers[i].score, wanted["score"].number(), 1e-5);
    }
  });
}

TEST(Answerer, TopAnswersAreDifferentSpans) {
  const Answerer answerer(bert_fixture("bert_answers"));
  const std::string text = "unbelievably restored";  // many tokens, but only three spans of whole words
  EXPECT_EQ(answerer("who?", text, {.top = 3}).size(), 3u);
  EXPECT_EQ(answerer("who?", text, {.top = 9}).size(), 3u);
}

TEST(Answerer, AnEmptyTextHasNoAnswers) {
  const Answerer answerer(bert_fixture("bert_answers"));
  EXPECT_TRUE(answerer("who?", "").empty());
  const std::vector<Answer> answers = answerer("who?", "", {.may_lack = true});
  ASSERT_EQ(answers.size(), 1u);
  EXPECT_EQ(answers[0].span, Span());
}

TEST(Answerer, AQuestionThatLeavesNoRoomForTheTextIsAnError) {
  const Answerer answerer(bert_fixture("bert_answers"));
  EXPECT_ERROR(answerer("the child the child the child", "text", {.windows = {.max_tokens = 8}}), "leaves no room");
}

}  // namespace
}  // namespace attend
