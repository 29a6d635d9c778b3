// Filled masks are compared with Hugging Face's fill-mask pipeline (tests/golden/bert_uses.py).
#include "attend/tasks/masked_lm/mask_filler.h"

#include <gtest/gtest.h>

#include "tests/support/errors.h"
#include "tests/tasks/bert_fixture.h"

namespace attend {
namespace {

using test::bert_fixture;
using test::Expected;

class FilledMasks : public testing::TestWithParam<const char*> {};
INSTANTIATE_TEST_SUITE_P(MaskFiller, FilledMasks,
                         testing::Values("bert_words", "roberta_words", "albert_words", "modernbert_words"),
                         [](const auto& info) { return std::string(info.param); });

TEST_P(FilledMasks, HaveTheCandidatesOfTransformers) {
  const MaskFiller filler(bert_fixture(GetParam()));
  const Expected expected(GetParam());
  std::vector<std::string> texts;
  expected["masked"].each_element([&](JsonValue each) { texts.emplace_back(each["text"].string()); });
  for (const std::int64_t batch_tokens : {1024, 1}) {
    const std::vector<FilledText> filled = filler(texts, {.top = 6, .batch_tokens = batch_tokens});
    for (std::size_t i = 0; i < texts.size(); ++i) {
      const JsonValue masks = expected["masked"][i]["masks"];
      ASSERT_EQ(filled[i].masks.size(), masks.size()) << texts[i];
      for (std::size_t m = 0; m < masks.size(); ++m) {
        const std::vector<MaskCandidate>& candidates = filled[i].masks[m].candidates;
        ASSERT_EQ(candidates.size(), 6u);
        for (std::size_t c = 0; c < 6; ++c) {
          const JsonValue wanted = masks[m][c];
          EXPECT_EQ(candidates[c].id, wanted["id"].id()) << texts[i] << ", mask " << m;
          EXPECT_EQ(candidates[c].token, wanted["token"].string());
          EXPECT_NEAR(candidates[c].probability, wanted["prob"].number(), 1e-5);
        }
      }
    }
  }
}

TEST(MaskFiller, AcceptsBothSpellingsOfTheMask) {
  for (const char* name : {"bert_words", "roberta_words"}) {
    const MaskFiller filler(bert_fixture(name));
    const std::vector<FilledText> filled =
        filler(std::vector<std::string>{"The <mask> reads.", "The [MASK] reads.", "no mask"});
    ASSERT_EQ(filled[0].masks.size(), 1u);
    ASSERT_EQ(filled[1].masks.size(), 1u);
    EXPECT_EQ(filled[0].masks[0].candidates[0].id, filled[1].masks[0].candidates[0].id);
    EXPECT_EQ(filled[0].text, filled[1].text);
    EXPECT_TRUE(filled[2].masks.empty());
  }
}

TEST(MaskFiller, ReplacesAMaskByACandidate) {
  const FilledText text{"un [MASK] b", {{1, {3, 9}, {}}}};
  EXPECT_EQ(text.with(text.masks[0], {0, "a", 1.f}), "un a b");
  EXPECT_EQ(text.with(text.masks[0], {0, " a", 1.f}), "un a b");
  EXPECT_EQ(text.with(text.masks[0], {0, "##a", 1.f}), "una b");

  const FilledText with_space{"un [MASK] b", {{1, {2, 9}, {}}}};  // a mask that takes the space before it
  EXPECT_EQ(with_space.with(with_space.masks[0], {0, "a", 1.f}), "un a b");
  EXPECT_EQ(with_space.with(with_space.masks[0], {0, " a", 1.f}), "un a b");
  EXPECT_EQ(with_space.with(with_space.masks[0], {0, "a", 1.f, /*joins=*/true}), "una b");
}

TEST(MaskFiller, KnowsWhichCandidatesContinueAWord) {
  for (const char* name : {"bert_words", "roberta_words"}) {
    const MaskFiller filler(bert_fixture(name));
    const FilledText filled = filler(std::vector<std::string>{"The [MASK] reads."}, {.top = 40}).front();
    for (const MaskCandidate& candidate : filled.masks.front().candidates) {
      if (candidate.token.find_first_of("abcdefghijklmnopqrstuvwxyz") == std::string::npos) continue;
      const bool joins = name[0] == 'b' ? candidate.token.starts_with("##") : !candidate.token.starts_with(' ');
      EXPECT_EQ(candidate.joins, joins) << name << ": " << candidate.token;
    }
  }
}

TEST(MaskFiller, FillsEachMaskOfALongTextInTheMiddleOfAWindow) {
  const MaskFiller filler(bert_fixture("bert_words"));
  const std::string part = "a b c d e f g h ";
  const FilledText filled = filler(std::vector<std::string>{part + part + "[MASK] " + part + part + "[MASK] " + part},
                                   {.max_tokens = 16, .long_text = LongText::split})
                                .front();
  ASSERT_EQ(filled.masks.size(), 2u);
  EXPECT_EQ(filled.truncated, 0);
  for (const FilledMask& mask : filled.masks) {
    EXPECT_EQ(filled.text.substr(static_cast<std::size_t>(mask.span.begin), 6), "[MASK]");
    EXPECT_EQ(mask.candidates.size(), 5u);
    // The mask is in the middle half of its window.
    EXPECT_GE(mask.position, 4);
    EXPECT_LT(mask.position, 12);
  }
  EXPECT_LT(filled.masks[0].span.begin, filled.masks[1].span.begin);
}

TEST(MaskFiller, LongTextsAreErrorsUnlessTheyMayBeTruncated) {
  const MaskFiller filler(bert_fixture("bert_words"));
  const std::vector<std::string> texts{"the child reads [MASK]"};
  EXPECT_ERROR(filler(texts, {.max_tokens = 4}), "too long");
  EXPECT_GT(filler(texts, {.max_tokens = 4, .long_text = LongText::truncate})[0].truncated, 0);
  EXPECT_ERROR(MaskFiller(bert_fixture("bert_tags")),
               "is a model for token classification, expected one for masked tokens");
}

}  // namespace
}  // namespace attend
