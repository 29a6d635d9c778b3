// Tags are compared with Hugging Face's token-classification pipeline (tests/golden/bert_uses.py).
#include "attend/tasks/tagging/tagger.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "tests/support/errors.h"
#include "tests/tasks/bert_fixture.h"

namespace attend {
namespace {

using test::bert_fixture;
using test::Expected;

class Tags : public testing::TestWithParam<const char*> {};
INSTANTIATE_TEST_SUITE_P(Tagger, Tags, testing::Values("bert_tags", "roberta_tags"),
                         [](const auto& info) { return std::string(info.param); });

TEST_P(Tags, EqualThoseOfTransformersWithEveryStrategy) {
  const Tagger tagger(bert_fixture(GetParam()));
  const Expected expected(GetParam());
  expected["cases"].each_element([&](JsonValue c) {
    const std::string text(c["text"].string()), strategy(c["strategy"].string());
    TagOptions options{.overlap = 6};
    for (const auto& [name, value] : kTagStrategyNames)
      if (name == strategy) options.strategy = value;
    const std::vector<Tag> tags = tagger(std::span(&text, 1), options).front().tags;
    std::vector<JsonValue> all;  // without tags of white space, which the tagger leaves out
    c["tags"].each_element([&](JsonValue tag) {
      if (tag["span"][0].integer() < tag["span"][1].integer()) all.push_back(tag);
    });
    ASSERT_EQ(tags.size(), all.size()) << strategy << ": " << text;
    for (std::size_t i = 0; i < tags.size(); ++i) {
      const JsonValue wanted = all[i];
      EXPECT_EQ(tags[i].label, wanted["label"].string()) << strategy << ": " << text << ", " << i;
      EXPECT_EQ(tags[i].span.begin, wanted["span"][0].integer()) << strategy << ": " << text << ", " << i;
      EXPECT_EQ(tags[i].span.end, wanted["span"][1].integer()) << strategy << ": " << text << ", " << i;
      EXPECT_NEAR(tags[i].probability, wanted["prob"].number(), 1e-5);
    }
  });
}

TEST(Tagger, GivesALabelForEveryWordWithoutGrouping) {
  const Tagger tagger(bert_fixture("bert_tags"));
  const std::vector<std::string> texts{"Nobody here", "", "Un marinaio unbelievably restored"};
  const std::vector<TaggedText> tagged = tagger(texts, {.group = false, .ignored = {}});
  EXPECT_EQ(tagged[0].tags.size(), 2u);
  EXPECT_TRUE(tagged[1].tags.empty());
  EXPECT_EQ(tagged[2].tags.size(), 4u);
  for (const Tag& tag : tagged[2].tags) EXPECT_EQ(std::ranges::count(tagger.labels(), tag.label), 1);
}

TEST(Tagger, TruncatesOrRejectsLongTextsIfRequested) {
  const Tagger tagger(bert_fixture("bert_tags"));
  const std::vector<std::string> texts{"the child the child the child"};
  EXPECT_ERROR(tagger(texts, {.max_tokens = 5, .long_text = LongText::error}), "too long");
  EXPECT_EQ(tagger(texts, {.max_tokens = 5, .long_text = LongText::truncate})[0].truncated, 3);
  EXPECT_EQ(tagger(texts, {.max_tokens = 5})[0].truncated, 0);
}

}  // namespace
}  // namespace attend
