// attend train memory, attend answer with stories, and attend evaluate with stories, run as a user runs them.
#include <gtest/gtest.h>

#include <fstream>
#include <nlohmann/json.hpp>

#include "tests/support/run_program.h"
#include "tests/support/temp_folder.h"
#include "tests/tasks/stories/stories_fixture.h"

namespace attend {
namespace {

using test::contains;
using test::Outcome;
using test::run_attend;
using test::run_for_errors;
using Json = nlohmann::json;

/// A small network for both tasks, trained once.
class Memory : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    folder_ = new test::StoryFolder;
    trained_ =
        new Outcome(run_attend("train memory --threads 1 --joint --width 16 --hops 2 --validation-share 0.1 --restarts "
                               "1 --linear-epochs 5 --data " +
                               folder_->path().string() + " --output " + path("model") + " 2>/dev/null"));
  }
  static void TearDownTestSuite() { delete folder_, delete trained_; }
  static std::string path(const std::string& name) { return (*folder_ / name).string(); }
  /// The answers to these lines.
  static Outcome answer(const std::string& lines, const std::string& flags = "") {
    std::ofstream(path("lines.txt")) << lines;
    return run_attend("answer --model " + path("model") + " --input " + path("lines.txt") + " " + flags);
  }
  static std::string refusal(const std::string& lines, const std::string& flags = "") {
    std::ofstream(path("lines.txt")) << lines;
    const Outcome outcome =
        run_for_errors("answer --model " + path("model") + " --input " + path("lines.txt") + " " + flags);
    EXPECT_EQ(outcome.code, 2) << outcome.output;
    return outcome.output;
  }

  static test::StoryFolder* folder_;
  static Outcome* trained_;
};
test::StoryFolder* Memory::folder_ = nullptr;
Outcome* Memory::trained_ = nullptr;

constexpr const char* kStory = "John went to the garden.\nMary went to the kitchen.\nJohn went to the hallway.\n";

TEST_F(Memory, TrainingPrintsTheErrorsOfAllTasks) {
  ASSERT_EQ(trained_->code, 0);
  EXPECT_TRUE(contains(trained_->output, "Task   validation   test   error in %")) << trained_->output;
  EXPECT_TRUE(contains(trained_->output, "\n   2 ")) << trained_->output;
  EXPECT_TRUE(contains(trained_->output, "\nmean ")) << trained_->output;
}

TEST_F(Memory, QuestionsAreAnsweredWithTheWeightsOfEachHop) {
  const Outcome outcome = answer(
      std::string(kStory) + "Where is John?\nWhere is Mary?\n\nMary went to the garden.\nWhere is Mary?\n", "--json");
  ASSERT_EQ(outcome.code, 0);
  const std::vector<std::string> lines = test::lines_of(outcome.output);
  ASSERT_EQ(lines.size(), 3u);
  const Json first = Json::parse(lines[0]), last = Json::parse(lines[2]);
  EXPECT_EQ(first["question"], "Where is John?");
  EXPECT_EQ(first["answer"], "hallway");
  EXPECT_GT(first["prob"], 0.3);
  ASSERT_EQ(first["hops"].size(), 2u);
  EXPECT_EQ(first["hops"][0].size(), 3u);
  EXPECT_EQ(Json::parse(lines[1])["answer"], "kitchen");
  EXPECT_EQ(last["answer"], "garden");
  EXPECT_EQ(last["hops"][0], (std::vector<double>{1}));
}

TEST_F(Memory, TheTableHasSentencesAndHops) {
  const Outcome outcome = answer(std::string(kStory) + "Where is John?\n", "--attention");
  EXPECT_TRUE(outcome.output.starts_with("hallway\t")) << outcome.output;
  EXPECT_TRUE(contains(outcome.output, "hop 1  hop 2")) << outcome.output;
  EXPECT_TRUE(contains(outcome.output, "John went to the hallway.")) << outcome.output;
}

TEST_F(Memory, AttentionIsWrittenToFiles) {
  for (const char* name : {"hops.html", "hops.svg", "hops.json"}) {
    EXPECT_EQ(answer(std::string(kStory) + "Where is John?\n", "--attention=" + path(name)).code, 0);
    EXPECT_TRUE(contains(test::contents(path(name)), "Mary went to the kitchen.")) << name;
  }
  const Json map = Json::parse(test::contents(path("hops.json")));
  EXPECT_EQ(map["views"][0]["name"], "memory");
  EXPECT_EQ(map["layers"][0][0].size(), 2u);
  const Outcome same =
      run_attend("attention --json --model " + path("model") +
                 " 'John went to the garden. Mary went to the kitchen. John went to the hallway. Where is John?'");
  EXPECT_EQ(Json::parse(same.output)["layers"], map["layers"]);
}

TEST_F(Memory, AQuestionAndItsTextCanBeFlags) {
  const Outcome outcome =
      run_attend("answer --top 2 --model " + path("model") +
                 " --question 'Where is Mary?' --text 'John went to the garden. Mary went to the kitchen.'");
  EXPECT_EQ(outcome.code, 0);
  EXPECT_TRUE(outcome.output.starts_with("kitchen\t")) << outcome.output;
  EXPECT_EQ(std::ranges::count(outcome.output, '\t'), 3) << "two answers with their probabilities";
}

TEST_F(Memory, AnInteractiveSessionGoesOnAfterAnError) {
  std::ofstream(path("lines.txt")) << "Where is John?\n" << kStory << "Where is John?\n";
  const std::string command = "answer --interactive --model " + path("model") + " < " + path("lines.txt");
  EXPECT_TRUE(run_attend(command + " 2>/dev/null").output.starts_with("hallway\t"));
  const std::string errors = run_for_errors(command).output;
  EXPECT_TRUE(contains(errors, "there is no sentence before the question")) << errors;
  EXPECT_TRUE(contains(errors, "> ")) << errors;
}

TEST_F(Memory, BadInputIsAnErrorWithItsLine) {
  EXPECT_TRUE(contains(refusal("Where is John?\n"), "line 1: there is no sentence before the question"));
  EXPECT_TRUE(contains(refusal(kStory), "line 3: the story has no question"));
  EXPECT_TRUE(contains(refusal(std::string(kStory) + "\nA b.\nWho?\n"), "line 4: the story has no question"));
  EXPECT_TRUE(contains(refusal(std::string(kStory) + "?\n"), "the question has no words"));
  EXPECT_TRUE(contains(refusal(kStory, "--may-lack"), "--may-lack: is only for models that find the answer in a text"));
  EXPECT_EQ(answer("").output, "");
  const std::string warning =
      run_for_errors("answer --model " + path("model") + " -q 'Where is Bill?' -t 'Bill is here.'").output;
  EXPECT_TRUE(contains(warning, "1 question was answered with words")) << warning;
}

TEST_F(Memory, AModelIsEvaluatedOnTestFiles) {
  const Outcome table = run_attend("evaluate --model " + path("model") + " --stories " + folder_->path().string());
  EXPECT_TRUE(contains(table.output, "Task   test   error in %\n   1 ")) << table.output;
  const Json json = Json::parse(
      run_attend("evaluate --json --tasks 2 --model " + path("model") + " --stories " + folder_->path().string())
          .output);
  EXPECT_EQ(json.size(), 2u);
  EXPECT_EQ(json["task 2"], json["mean error"]);
  const Outcome unknown =
      run_for_errors("evaluate --tasks 3 --model " + path("model") + " --stories " + folder_->path().string());
  EXPECT_EQ(unknown.code, 2);
  EXPECT_TRUE(contains(unknown.output, "there are no files of task 3")) << unknown.output;
  for (const auto& [flag, value] : {std::pair{"--metric", "accuracy"}, {"--confidence", ""}, {"--digits", "2"}}) {
    const Outcome useless = run_for_errors("evaluate --model " + path("model") + " --stories " +
                                           folder_->path().string() + " " + flag + " " + value);
    EXPECT_EQ(useless.code, 2);
    EXPECT_TRUE(contains(useless.output, flag + std::string(" and --stories cannot be given together")))
        << useless.output;
  }
}

TEST_F(Memory, WithoutJointEachTaskHasAFolderOfItsOwn) {
  const Outcome outcome =
      run_attend("train memory --threads 1 --json --width 8 --hops 1 --epochs 2 --restarts 2 --data " +
                 folder_->path().string() + " --output " + path("each") + " 2>/dev/null");
  ASSERT_EQ(outcome.code, 0);
  const std::vector<std::string> lines = test::lines_of(outcome.output);
  ASSERT_EQ(lines.size(), 2u);
  EXPECT_TRUE(Json::parse(lines[1])["test"].contains("task 2"));
  for (const char* name : {"each/qa1/config.json", "each/qa2/config.json"})
    EXPECT_TRUE(std::filesystem::exists(path(name))) << name;
}

TEST_F(Memory, TheHopMatrixCanBeLeftOut) {
  const auto hop_matrix = [](const std::string& model) {
    return Json::parse(test::contents(path(model + "/config.json"))).at("hop_matrix");
  };
  EXPECT_EQ(hop_matrix("model"), true);
  const Outcome outcome = run_attend(
      "train memory --threads 1 --joint --no-hop-matrix --init-deviation 0.1 --width 8 --epochs 1 --restarts 1 "
      "--data " +
      folder_->path().string() + " --output " + path("plain") + " 2>/dev/null");
  EXPECT_EQ(outcome.code, 0);
  EXPECT_EQ(hop_matrix("plain"), false);
}

TEST_F(Memory, WrongTrainingDataIsAnError) {
  const auto train = [&](const std::string& flags) {
    const Outcome outcome = run_for_errors("train memory --epochs 1 --output " + path("none") + " " + flags);
    EXPECT_EQ(outcome.code, 2) << outcome.output;
    return outcome.output;
  };
  EXPECT_TRUE(contains(train("--joint --tasks 21 --data " + folder_->path().string()), "no files of task 21"));
  EXPECT_TRUE(contains(train("--data " + path("nowhere")), "there is no such folder"));
  EXPECT_TRUE(
      contains(train("--patience 3 --data " + folder_->path().string()), "--patience: needs --validation-share"));
  std::filesystem::create_directories(path("bad"));
  std::ofstream(path("bad/qa1_x_train.txt")) << "1 Mary is here.\n";
  EXPECT_TRUE(contains(train("--data " + path("bad")), "qa1_x_train.txt: has no questions"));
}

}  // namespace
}  // namespace attend
