#include "attend/tasks/question_answering/span_attention.h"

#include <gtest/gtest.h>

#include "attend/models/bidaf.h"
#include "attend/tasks/attention/attention_reader.h"
#include "attend/text/training/train_words.h"
#include "tests/support/errors.h"
#include "tests/support/golden.h"
#include "tests/support/temp_folder.h"

namespace attend {
namespace {

const std::string kQuestion = "Where does Anna live?", kText = "Anna lives in Rome.  Bruno likes tea.";

class SpanAttention : public testing::Test {
 protected:
  SpanAttention() {
    bool read = false;
    const Tokenizer tokenizer =
        train_words([&](std::string& line) { return line = "where anna lives", !std::exchange(read, true); },
                    {.vocab_size = 10, .lowercase = true, .append_eos = false});
    Bidaf model({.vocabulary = tokenizer.size(), .embedding = 4, .hidden = 3, .byte_embedding = 4, .filters = 5});
    save_model(model, tokenizer, folder_.path());
  }
  AttentionMap map(const AttentionSelection& selection = {}, const SpanAttentionOptions& options = {}) const {
    return span_attention(SpanReader(ModelFolder(folder_.path())), kQuestion, kText, selection, options);
  }

  test::TempFolder folder_;
};

TEST_F(SpanAttention, HasTheTextOverTheQuestionAndTheQuestionOverTheText) {
  const AttentionMap both = map();
  EXPECT_EQ(both.kind, "attend-bidaf");
  EXPECT_EQ(both.text, kQuestion + "\t" + kText);
  ASSERT_EQ(both.views.size(), 2u);
  const AttentionView &to_question = both.view(), &to_text = both.view(AttentionKind::question_to_context);
  EXPECT_EQ(to_question.kind, AttentionKind::context_to_question);
  // Unknown words are shown as they are in the text.
  const std::vector<std::string> question = {"Where", "does", "Anna", "live", "?"},
                                 text = {"Anna", "lives", "in", "Rome", ".", "Bruno", "likes", "tea", "."};
  EXPECT_EQ(to_question.queries.shown, text);
  EXPECT_EQ(to_question.keys.shown, question);
  EXPECT_EQ(to_text.queries.shown, std::vector<std::string>{"(question)"});
  EXPECT_EQ(to_text.keys.shown, text);
  EXPECT_EQ(to_question.keys.words, (std::vector<std::int32_t>{0, 1, 2, 3, 3}));

  const SpanReader reader(ModelFolder(folder_.path()));
  const std::vector<SpanWindow> windows = reader.windows(kQuestion, kText);
  const SpanWindow* const only[] = {&windows.front()};
  Probe probe;
  reader.find_spans(reader.input(only), &probe);
  EXPECT_TRUE(test::close(to_question.weights[0], probe.records()[0].weights.reshape({1, 9, 5}), {0, 0}));
  EXPECT_TRUE(test::close(to_text.weights[0], probe.records()[1].weights.reshape({1, 1, 9}), {0, 0}));
}

TEST_F(SpanAttention, ALongTextIsAnErrorOrCut) {
  EXPECT_ERROR(map({}, {.max_tokens = 8}), "have 14 tokens, expected at most 8");
  const AttentionMap cut = map({}, {.max_tokens = 8, .long_text = LongText::truncate});
  EXPECT_EQ(cut.truncated, 6);
  EXPECT_EQ(cut.view().queries.size(), 3);
}

TEST_F(SpanAttention, WhatTheModelDoesNotHaveIsAnError) {
  EXPECT_EQ(map({.views = {AttentionKind::question_to_context}}).views.size(), 1u);
  EXPECT_ERROR(map({.views = {AttentionKind::self}}), "does not have this attention");
  EXPECT_ERROR(map({.layers = {1}}), "no such layer");
}

TEST_F(SpanAttention, TheAttentionReaderTakesAQuestionAndAText) {
  const AttentionReader reader(folder_.path());
  EXPECT_TRUE(reader.takes_pairs());
  EXPECT_EQ(reader({.text = kQuestion, .pair = kText}).front().views.size(), 2u);
  EXPECT_ERROR(reader({.text = kQuestion}), "a question and a text, with a tab between them");
  EXPECT_ERROR(reader({.text = " ", .pair = kText}), "blank");
  EXPECT_ERROR(reader({.text = kQuestion, .pair = ""}), "blank");
}

}  // namespace
}  // namespace attend
