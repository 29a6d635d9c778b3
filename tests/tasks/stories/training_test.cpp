#include "attend/tasks/stories/training.h"

#include <gtest/gtest.h>

#include <map>
#include <set>

#include "attend/tasks/attention/attention_reader.h"
#include "attend/tasks/stories/story_reader.h"
#include "tests/support/errors.h"
#include "tests/tasks/stories/stories_fixture.h"

namespace attend {
namespace {

class StoryTraining : public testing::Test {
 protected:
  StoryTrainingOptions options(const std::string& output) const {
    StoryTrainingOptions o;
    o.data = {folder_.path()}, o.validation = 0.1, o.restarts = 1;
    o.model.width = 16, o.model.hops = 2;
    o.linear_epochs = 2;
    o.trainer.output = folder_ / output, o.trainer.epochs = 5;
    return o;
  }
  std::string model(const std::string& output) const { return test::contents(folder_ / output / "model.safetensors"); }

  test::StoryFolder folder_;
};

TEST_F(StoryTraining, AMemoryNetworkLearnsWherePeopleAreAndAttendsToTheSentenceThatSaysIt) {
  StoryTrainingOptions o = options("model");
  o.trainer.epochs = 60, o.linear_epochs = 5;
  const StoryTrainingResult result = train_stories(o);
  EXPECT_EQ(result.training.state.best.front().first, "accuracy");
  ASSERT_EQ(result.test.size(), 2u);
  EXPECT_EQ(result.test[1].task, 2);
  EXPECT_EQ(result.test[0].questions, 40);
  EXPECT_LT(mean_error(result.test), 0.1);

  const StoryReader reader(folder_ / "model");
  const std::vector<std::string> story{"John went to the garden.", "Mary went to the kitchen.",
                                       "John went to the hallway."};
  const StoryAnswer found = reader(story, "Where is John?", 2);
  EXPECT_EQ(found.answer, "hallway");
  EXPECT_GT(found.prob, 0.5);
  ASSERT_EQ(found.best.size(), 2u);
  EXPECT_EQ(found.best[0].first, "hallway");
  ASSERT_EQ(found.hops.size(), 2u);
  for (const std::vector<float>& hop : found.hops) {
    ASSERT_EQ(hop.size(), 3u);
    EXPECT_NEAR(hop[0] + hop[1] + hop[2], 1, 1e-5);
  }
  EXPECT_GT(std::max(found.hops[0][2], found.hops[1][2]), 0.5f);

  const AttentionMap map = reader.attention(story, "Where is John?", found);
  EXPECT_EQ(map.view().kind, AttentionKind::memory);
  EXPECT_EQ(map.view().keys.shown, story);
  EXPECT_EQ(map.view().weights[0].to_vector()[5], found.hops[1][2]);
  AttentionRequest request;
  request.text = "John went to the garden. Mary went to the kitchen. John went to the hallway. Where is John?";
  const AttentionMap same = AttentionReader(folder_ / "model")(request).front();
  EXPECT_EQ(same.view().weights[0].to_vector(), map.view().weights[0].to_vector());
  request.text = "Where is John?";
  EXPECT_ERROR(AttentionReader(folder_ / "model")(request), "expected the sentences of a story and then a question");
}

TEST_F(StoryTraining, AResumedRunEqualsAnUnbrokenOne) {
  // With linear start, time noise and dropout, and a break in the middle of an epoch and at the switch to the softmax.
  for (const std::int64_t stop : {2, 10, 17}) {
    const std::string name = "run" + std::to_string(stop);
    const auto run = [&](const std::string& output, std::int64_t at, bool resume) {
      StoryTrainingOptions o = options(output);
      o.model.dropout = 0.2f, o.trainer.resume = resume, o.trainer.schedule = Schedule::Kind::constant;
      struct Stop {};
      TrainingObserver observer;
      observer.stepped = [&](const TrainingState& state) {
        if (state.step == at) throw Stop();
      };
      try {
        train_stories(o, observer);
      } catch (const Stop&) {
      }
    };
    run(name + "-whole", -1, false);
    run(name, stop, false), run(name, -1, true);
    EXPECT_EQ(model(name), model(name + "-whole")) << "stopped after " << stop;
    EXPECT_EQ(test::contents(folder_ / name / "config.json"),
              test::contents(folder_ / (name + "-whole") / "config.json"));
  }
}

TEST_F(StoryTraining, TheRestartWithTheLowestTrainingLossIsKept) {
  StoryTrainingOptions o = options("one");
  o.validation = 0;
  train_stories(o);
  o.trainer.output = folder_ / "best", o.restarts = 3;
  train_stories(o);
  std::map<double, std::string> models;  // by loss
  for (const std::string name : {"one", "best/restart-2", "best/restart-3"}) {
    const Tokenizer tokenizer = load_tokenizer(folder_ / name);
    const StoryNetwork network = story_network(ModelFolder(folder_ / name).load(), tokenizer, o.memory);
    StorySet set(tokenizer, network.answers, o.memory);
    for (const int task : {1, 2})
      for (const Story& story : read_stories(folder_ / ("qa" + std::to_string(task) + "_moves_train.txt"), task))
        set.add(story);
    models[evaluate(network, set).loss] = model(name);
  }
  EXPECT_EQ(models.size(), 3u);
  EXPECT_EQ(model("best"), models.begin()->second);
  o.trainer.resume = true;
  train_stories(o);
  EXPECT_EQ(model("best"), models.begin()->second);
}

TEST_F(StoryTraining, ANetworkThatAnswersAllHeldOutQuestionsIsTheLastRestart) {
  StoryTrainingOptions o = options("solved");
  o.tasks = {1}, o.restarts = 2, o.trainer.epochs = 60, o.linear_epochs = 5;
  EXPECT_EQ(mean_error(train_stories(o).validation), 0);
  EXPECT_FALSE(std::filesystem::exists(folder_ / "solved/restart-2"));
  o.trainer.output = folder_ / "not-solved", o.trainer.epochs = 1;
  EXPECT_GT(mean_error(train_stories(o).validation), 0);
  EXPECT_TRUE(std::filesystem::exists(folder_ / "not-solved/restart-2"));
}

TEST_F(StoryTraining, OnlyTheSameRunIsResumed) {
  train_stories(options("run"));
  const auto resume = [&](auto&& change) {
    StoryTrainingOptions o = options("run");
    o.trainer.resume = true;
    change(o);
    return train_stories(o);
  };
  const char* kOther = "other data or options";
  EXPECT_ERROR(resume([](StoryTrainingOptions& o) { o.tasks = {1}; }), kOther);
  EXPECT_ERROR(resume([](StoryTrainingOptions& o) { o.batch = 5; }), kOther);
  EXPECT_ERROR(resume([](StoryTrainingOptions& o) { o.time_noise = 0.5f; }), kOther);
  EXPECT_ERROR(resume([](StoryTrainingOptions& o) { o.linear_epochs = 1; }), kOther);
  EXPECT_ERROR(resume([](StoryTrainingOptions& o) { o.validation = 0.3; }), kOther);
  EXPECT_ERROR(resume([](StoryTrainingOptions& o) { o.model.hops = 3; }), kOther);
  EXPECT_ERROR(resume([](StoryTrainingOptions& o) { o.model.hop_matrix = false; }), kOther);
  EXPECT_ERROR(resume([](StoryTrainingOptions& o) { o.model.deviation = 0.1f; }), kOther);
  const std::string before = model("run");
  resume([](StoryTrainingOptions&) {});
  EXPECT_EQ(model("run"), before);
}

TEST_F(StoryTraining, EveryArchitectureIsSavedAndAnswers) {
  for (const auto& [name, architecture] : kStoryArchitectureNames) {
    SCOPED_TRACE(name);
    StoryTrainingOptions o = options(name);
    o.architecture = architecture, o.trainer.epochs = 2;
    o.lstm.embedding = o.lstm.hidden = o.transformer.width = 16, o.transformer.inner = 32;
    const StoryTrainingResult result = train_stories(o);
    const bool memory = architecture == StoryArchitecture::memory;
    EXPECT_EQ(result.training.state.curve.front().scores.empty(), memory) << "only a memory network has a linear start";
    ASSERT_EQ(result.test.size(), 2u);
    const StoryReader reader(folder_ / name);
    const StoryAnswer found = reader({"John went to the garden."}, "Where is John?");
    EXPECT_TRUE((std::set<std::string>{"garden", "hallway", "kitchen"}.contains(found.answer)));
    EXPECT_EQ(found.hops.empty(), !memory);
    if (!memory)
      EXPECT_ERROR(reader.attention({"John went to the garden."}, "Where is John?", found), "is not a memory network");
    EXPECT_EQ(reader.evaluate(read_stories(folder_ / "qa1_moves_test.txt", 1)).front().wrong, result.test[0].wrong);
  }
}

TEST_F(StoryTraining, LinearStartTakesAtMostHalfOfTheRun) {
  // So a short run with a long linear start is the same run as one whose linear start takes half of its epochs.
  const auto train = [&](const std::string& output, std::int64_t linear, auto&& change) {
    StoryTrainingOptions o = options(output);
    o.linear_epochs = linear, o.validation = 0;
    change(o.trainer);
    train_stories(o);
    return model(output);
  };
  const auto epochs = [](TrainerOptions& o) { o.epochs = 4; };
  EXPECT_EQ(train("long", 30, epochs), train("half", 2, epochs));
  EXPECT_NE(train("none", 0, epochs), model("half"));
  const auto steps = [](TrainerOptions& o) { o.steps = 40; };  // 600 questions in batches of 32: 19 steps in an epoch
  EXPECT_EQ(train("long-steps", 30, steps), train("half-steps", 1, steps));
  EXPECT_NE(train("no-steps", 0, steps), model("half-steps"));
}

TEST_F(StoryTraining, StoriesWithoutAQuestionAreLeftOutWithAWarning) {
  const test::TempFolder other;
  test::write_stories(other / "qa1_moves_train.txt", 20, 1);
  std::ofstream(other / "qa1_moves_train.txt", std::ios::app) << "1 Mary went to the garden.\n1 John went home.\n";
  StoryTrainingOptions o = options("model");
  o.data = {other.path()}, o.trainer.epochs = 1;
  std::vector<std::string> warnings;
  TrainingObserver observer;
  observer.warning = [&](const std::string& line) { warnings.push_back(line); };
  train_stories(o, observer);
  EXPECT_EQ(warnings, std::vector<std::string>{"2 stories of the training files have no question, and are left out"});
}

TEST_F(StoryTraining, AnswersOfSeveralWordsAreAnswersOfTheirOwn) {
  const test::TempFolder other;
  std::ofstream file(other / "qa19_paths_train.txt");
  for (int i = 0; i < 40; ++i)
    file
        << "1 The office is north of the hall.\n2 How do you go?\tn,e\t1\n1 The office is south of the hall.\n2 How do "
           "you go?\ts,w\t1\n";
  file.close();
  StoryTrainingOptions o = options("paths");
  o.data = {other.path()}, o.trainer.epochs = 30, o.linear_epochs = 2;
  const StoryTrainingResult result = train_stories(o);
  EXPECT_TRUE(result.test.empty());
  EXPECT_EQ(mean_error(result.validation), 0);
  EXPECT_EQ(StoryReader(folder_ / "paths")({"The office is south of the hall."}, "How do you go?").answer, "s,w");
}

TEST_F(StoryTraining, LongStoriesUnknownWordsAndMissingSentencesAreReported) {
  StoryTrainingOptions o = options("model");
  o.memory = 3, o.trainer.epochs = 1, o.linear_epochs = 0;
  train_stories(o);
  const StoryReader reader(folder_ / "model");
  const StoryAnswer found = reader(std::vector<std::string>(5, "John went to the moon."), "Where is John?");
  EXPECT_EQ(found.dropped, 2);
  EXPECT_EQ(found.unknown, 3);
  ASSERT_EQ(found.hops[0].size(), 5u);
  EXPECT_EQ(found.hops[0][1], 0.f);
  EXPECT_ERROR(reader({}, "Where is John?"), "there is no sentence before the question \"Where is John?\"");
  EXPECT_ERROR(reader({"John went to the moon."}, "?"), "the question has no words");
}

TEST_F(StoryTraining, BadOptionsAndDataAreErrors) {
  StoryTrainingOptions o = options("x");
  o.tasks = {7};
  EXPECT_ERROR(train_stories(o), "there are no files of task 7");
  o = options("x"), o.data = {folder_ / "none"};
  EXPECT_ERROR(train_stories(o), "there is no such folder");
  o = options("x"), o.validation = 1;
  EXPECT_ERROR(train_stories(o), "from 0 to below 1");
  const test::TempFolder other;
  std::ofstream(other / "qa1_x_train.txt") << "1 A.\n2 Who?\tyes\t1\n1 B.\n2 Who?\tyes\t1\n";
  o = options("x"), o.data = {other.path()};
  EXPECT_ERROR(train_stories(o), "all questions have the answer \"yes\"");
  EXPECT_THROW(StoryReader(ATTEND_SOURCE_DIR "/tests/tasks/fixtures/bert_labels"), InputError);
}

}  // namespace
}  // namespace attend
