#include "attend/tasks/question_answering/span_reader.h"

#include <gtest/gtest.h>

#include "attend/models/bidaf.h"
#include "attend/ops/tape.h"
#include "attend/text/training/train_words.h"
#include "tests/support/errors.h"
#include "tests/tasks/bert_fixture.h"

namespace attend {
namespace {

SpanReader word_reader() {
  const Tokenizer tokenizer = train_words(
      [done = false](std::string& line) mutable {
        line = "where is the red house ? it is in rome .";
        return !std::exchange(done, true);
      },
      {.lowercase = true, .append_eos = false});
  return {std::make_shared<const Bidaf>(BidafOptions{.vocabulary = tokenizer.size(), .embedding = 4, .hidden = 4}),
          tokenizer};
}

std::string token(const SpanWindow& window, std::size_t i) {
  const std::string_view text = i < window.begin ? window.question : window.text;
  return std::string(text.substr(static_cast<std::size_t>(window.spans[i].begin),
                                 static_cast<std::size_t>(window.spans[i].end - window.spans[i].begin)));
}

TEST(SpanReader, AWindowHasTheQuestionAndThenTheText) {
  const SpanReader reader = word_reader();
  EXPECT_EQ(reader.kind, "attend-bidaf");
  const std::vector<SpanWindow> windows = reader.windows("Where is it?", "It is in Perù.");
  ASSERT_EQ(windows.size(), 1u);
  const SpanWindow& window = windows[0];
  EXPECT_EQ(window.begin, 4u);
  EXPECT_EQ(window.end, 9u);
  EXPECT_EQ(token(window, 0), "Where");
  EXPECT_EQ(token(window, 7), "Perù");
  EXPECT_EQ(window.words_between(6, 7), (Span{6, 14}));

  const SpanWindow* chosen[] = {&window};
  const SpanInput input = reader.input(chosen);
  EXPECT_EQ(input.types.span<std::int32_t>()[3], 0);
  EXPECT_EQ(input.types.span<std::int32_t>()[4], 1);
  // The spelling is that of the text, also of words that the vocabulary does not have.
  const std::int32_t* bytes = input.bytes.data<std::int32_t>() + 7 * reader.word_bytes;
  EXPECT_EQ(std::vector<std::int32_t>(bytes, bytes + 6),
            (std::vector<std::int32_t>{'P' + 1, 'e' + 1, 'r' + 1, 0xC4, 0xBA, 0}));
}

TEST(SpanReader, ALongTextIsSplitIntoWindowsThatOverlap) {
  const SpanReader reader = word_reader();
  const std::vector<SpanWindow> windows = reader.windows("Where?", "a b c d e f g h", {.max_tokens = 6, .overlap = 1});
  ASSERT_EQ(windows.size(), 3u);
  EXPECT_EQ(token(windows[0], windows[0].begin), "a");
  EXPECT_EQ(token(windows[1], windows[1].begin), "d");
  EXPECT_EQ(token(windows[2], windows[2].end - 1), "h");
}

TEST(SpanReader, WithoutWordsThereAreNoWindows) {
  const SpanReader reader = word_reader();
  EXPECT_TRUE(reader.windows("Where?", " ").empty());
  EXPECT_TRUE(reader.windows(" ", "text").empty());
  EXPECT_ERROR(reader.windows("a b c", "text", {.max_tokens = 3}), "leaves no room for the text: it has 3 of 3 tokens");
}

TEST(SpanReader, AWindowOfBertAloneEqualsTheSameInAPaddedBatch) {
  const SpanReader reader{ModelFolder(test::bert_fixture("bert_answers"))};
  const std::vector<SpanWindow> a = reader.windows("who?", "the child"),
                                b = reader.windows("who is the child?", "the child is here and there");
  const NoGrad no_grad;
  const SpanWindow* both[] = {&a[0], &b[0]};
  const SpanLogits together = reader.find_spans(reader.input(both), nullptr);
  const SpanLogits alone = reader.find_spans(reader.input(std::span(both, 1)), nullptr);
  for (std::size_t t = 0; t < a[0].ids.size(); ++t) {
    const bool possible = t == 0 || (t >= a[0].begin && t < a[0].end);
    EXPECT_NEAR(together.start.span()[t], alone.start.span()[t], 1e-5);
    EXPECT_NEAR(together.end.span()[t], alone.end.span()[t], 1e-5);
    EXPECT_EQ(alone.start.span()[t] == kNoSpan, !possible) << t;
  }
  for (std::size_t t = a[0].ids.size(); t < b[0].ids.size(); ++t) EXPECT_EQ(together.start.span()[t], kNoSpan);
}

TEST(SpanReader, OtherModelsAreRefused) {
  EXPECT_ERROR(SpanReader{ModelFolder(test::bert_fixture("bert_labels"))}, "expected one for question answering");
  EXPECT_ERROR(SpanReader{ModelFolder(ATTEND_SOURCE_DIR "/tests/models/fixtures/gpt2_unscaled")},
               "expected a model that finds the answer in a text (bert, ");
}

}  // namespace
}  // namespace attend
