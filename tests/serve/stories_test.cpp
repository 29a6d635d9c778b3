// Questions about stories, as the explorer's memory view asks them.
#include <gtest/gtest.h>

#include <algorithm>

#include "attend/tasks/stories/training.h"
#include "tests/serve/serving.h"
#include "tests/tasks/stories/stories_fixture.h"

namespace attend::test {
namespace {

/// A memory network and an LSTM, hardly trained, and a model that cannot answer.
class Stories : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    folder_ = std::make_unique<StoryFolder>();
    for (const auto& [name, architecture] : kStoryArchitectureNames) {
      if (architecture == StoryArchitecture::transformer) continue;
      StoryTrainingOptions options;
      options.data = {folder_->path()}, options.architecture = architecture, options.memory = 4;
      options.restarts = 1;
      options.model.width = 16, options.model.hops = 2, options.model.memory = 4, options.linear_epochs = 0;
      options.lstm.embedding = options.lstm.hidden = 8;
      options.trainer.output = *folder_ / name, options.trainer.epochs = 1;
      train_stories(options);
    }
    ServerOptions options;
    options.models = {{"memory", *folder_ / "memory"}, {"lstm", *folder_ / "lstm"}, {"words", kWords}};
    options.port = 0;
    serving_ = std::make_unique<Serving>(options);
  }
  static void TearDownTestSuite() {
    serving_.reset();
    folder_.reset();
  }

  static Serving::Answer ask(const std::string& model, const Json& story, const std::string& question,
                             const Json& more = Json::object()) {
    Json body{{"model", model}, {"story", story}, {"question", question}};
    body.update(more);
    return serving_->post("/v1/answer", body);
  }

  inline static std::unique_ptr<StoryFolder> folder_;
  inline static std::unique_ptr<Serving> serving_;
  const Json story_ = {"John went to the garden.", "Mary went to the kitchen.", "John went to the hallway."};
};

TEST_F(Stories, AMemoryNetworkAnswersAsItsReaderDoesWithItsHops) {
  const Json found = ask("memory", story_, "Where is John?", {{"top", 3}}).json;
  const StoryAnswer expected = StoryReader(*folder_ / "memory")(story_, "Where is John?", 3);
  EXPECT_EQ(found["question"], "Where is John?");
  EXPECT_EQ(found["answer"], expected.answer);
  EXPECT_EQ(found["prob"], expected.prob);
  EXPECT_EQ(found["hops"], Json(expected.hops));
  ASSERT_EQ(found["answers"].size(), 3u);
  for (std::size_t i = 0; i < 3; ++i) {
    EXPECT_EQ(found["answers"][i]["answer"], expected.best[i].first);
    EXPECT_EQ(found["answers"][i]["prob"], expected.best[i].second);
  }
  EXPECT_FALSE(found.contains("truncated"));
  EXPECT_FALSE(found.contains("unknown"));
  EXPECT_EQ(ask("memory", story_, "Where is John?").json["answers"].size(), 1u);
}

TEST_F(Stories, ATextIsSplitIntoSentences) {
  const std::string text = "John went to the garden. Mary went to the kitchen.\nJohn went to the hallway.";
  EXPECT_EQ(ask("memory", text, "Where is John?").body, ask("memory", story_, "Where is John?").body);
}

TEST_F(Stories, TellWhatWasLeftOutAndWhatIsUnknown) {
  const Json story{"John went to the garden.",  "Mary went to the zoo.",     "Mary went to the kitchen.",
                   "John went to the hallway.", "John went to the kitchen.", "Mary went to the garden."};
  const Json found = ask("memory", story, "Where is Zaphod?").json;
  EXPECT_EQ(found["truncated"], 2);  // "zoo" is in a sentence that is left out
  EXPECT_EQ(found["unknown"], 1);
  ASSERT_EQ(found["hops"].size(), 2u);
  for (const Json& hop : found["hops"]) {
    ASSERT_EQ(hop.size(), story.size());
    EXPECT_EQ(hop[1], 0);
    EXPECT_GT(hop[5], 0);
  }
}

TEST_F(Stories, AnLstmAnswersWithoutHops) {
  const Json found = ask("lstm", story_, "Where is John?", {{"top", 1000}}).json;
  EXPECT_EQ(found["hops"], Json::array());
  EXPECT_EQ(found["answers"].size(), 3u);  // all that there are
}

TEST_F(Stories, ModelsTellWhetherTheyHaveHopsAndWhatTheyAnswer) {
  const Json all = serving_->get("/v1/models").json["data"];
  const auto answers = [](const Json& model) {
    return std::ranges::find(model["capabilities"], "answer") != model["capabilities"].end();
  };
  EXPECT_TRUE(answers(all[0]));
  EXPECT_EQ(all[0]["hops"], 2);
  EXPECT_EQ(all[0]["answers"].size(), 3u);
  EXPECT_TRUE(answers(all[1]));
  EXPECT_EQ(all[1]["hops"], 0);
  EXPECT_FALSE(answers(all[2]));
  EXPECT_FALSE(all[2].contains("hops"));
}

TEST_F(Stories, WhatCannotBeAnsweredIsAnError) {
  EXPECT_EQ(ask("words", story_, "Where is John?").json["error"]["code"], "wrong_model_kind");
  EXPECT_EQ(ask("memory", Json::array(), "Where is John?").json["error"]["param"], "story");
  EXPECT_EQ(ask("memory", " \n", "Where is John?").json["error"]["code"], "invalid_value");
  EXPECT_EQ(ask("memory", story_, "?").json["error"]["code"], "invalid_value");
  EXPECT_EQ(ask("memory", story_, "Where is John?", {{"top", 0}}).json["error"]["param"], "top");
  EXPECT_EQ(ask("memory", story_, "Where is John?", {{"layers", {0}}}).json["error"]["param"], "layers");
  std::string lines;
  for (int i = 0; i < 2049; ++i) lines += "Mary went.\n";
  EXPECT_EQ(ask("memory", lines, "Where is John?").json["error"]["param"], "story");
}

}  // namespace
}  // namespace attend::test
