// attend train dialogue, finetune dialogue and evaluate --dialogues, run as a user runs them.
#include <gtest/gtest.h>

#include <fstream>
#include <nlohmann/json.hpp>
#include <string>

#include "tests/support/run_program.h"
#include "tests/support/temp_folder.h"

namespace attend {
namespace {

using test::contains;
using test::Outcome;
using test::run_attend;
using test::run_for_errors;

class Dialogue : public testing::Test {
 protected:
  Dialogue() {
    std::ofstream text(folder_ / "talk.txt");
    for (int i = 0; i < 30; ++i)
      text << "How are you ? __eou__ Fine. __eou__ And the dog ? __eou__ It barks. __eou__\t1\n";
    std::ofstream lines(folder_ / "talk.jsonl");
    for (int i = 0; i < 30; ++i)
      lines << R"({"messages": [{"role": "user", "content": "Hi"}, {"role": "assistant", "content": "Hello."}]})"
            << '\n';
  }
  std::string path(const std::string& name) const { return (folder_ / name).string(); }
  std::string training(const std::string& output) const {
    return "train dialogue --train " + path("talk.txt") +
           " --vocab-size 300 --width 16 --heads 2 --layers 1 --context 64 --batch-tokens 256 --steps 4 --output " +
           path(output) + " ";
  }
  test::TempFolder folder_;
};

TEST_F(Dialogue, AModelIsTrainedTalksAndIsEvaluated) {
  const Outcome trained = run_attend(training("model"));
  ASSERT_EQ(trained.code, 0);
  EXPECT_TRUE(contains(trained.output, "perplexity")) << trained.output;
  EXPECT_EQ(run_attend("chat --model " + path("model") + " --max-new-tokens 4 < " + path("talk.txt")).code, 0);

  const std::string evaluation = "evaluate --model " + path("model") + " --dialogues " + path("talk.txt");
  const Outcome text = run_attend(evaluation);
  EXPECT_EQ(text.code, 0);
  EXPECT_TRUE(contains(text.output, "of the replies in 30 dialogues")) << text.output;
  const auto json = nlohmann::json::parse(run_attend(evaluation + " --json").output);
  EXPECT_EQ(json["dialogues"], 30);
  EXPECT_GT(json["perplexity"], 1.0);

  // The same run again, from its recipe.
  ASSERT_EQ(run_attend("train dialogue --config " + path("model/recipe.toml") + " --output " + path("again")).code, 0);
  EXPECT_EQ(test::contents(folder_ / "again" / "model.safetensors"),
            test::contents(folder_ / "model" / "model.safetensors"));

  const std::string tuning = "finetune dialogue --from " + path("model") + " --train " + path("talk.jsonl") +
                             " --steps 3 --learning-rate 1e-3 --output ";
  ASSERT_EQ(run_attend(tuning + path("tuned")).code, 0);
  ASSERT_EQ(run_attend(tuning + path("adapter") + " --lora 2").code, 0);
  for (const char* name : {"tuned", "adapter"})
    EXPECT_EQ(run_attend("evaluate --model " + path(name) + " --dialogues " + path("talk.jsonl")).code, 0) << name;
  ASSERT_EQ(run_attend("convert --merge --model " + path("adapter") + " --output " + path("merged")).code, 0);
  EXPECT_EQ(test::contents(folder_ / "merged" / "chat_template.jinja"),
            test::contents(folder_ / "model" / "chat_template.jinja"));
}

TEST_F(Dialogue, WrongUsageIsReported) {
  const auto refusal = [](const std::string& command) {
    const Outcome outcome = run_for_errors(command);
    EXPECT_EQ(outcome.code, 2) << command;
    return outcome.output;
  };
  EXPECT_TRUE(contains(refusal("train dialogue --output " + path("x")), "--train"));
  EXPECT_TRUE(contains(refusal(training("x") + "--loss-on some"), "--loss-on"));
  EXPECT_TRUE(contains(refusal("train dialogue --heads 3 --train " + path("talk.txt") + " --output " + path("x")),
                       "3 heads do not divide the width"));
  EXPECT_TRUE(contains(refusal(training("x") + "--turn-separator ''"), "the separator of turns is empty"));
  EXPECT_TRUE(contains(refusal("evaluate --dialogues " + path("talk.txt")), "--model"));
  std::ofstream(folder_ / "bad.jsonl") << R"({"messages": [{"role": "bot", "content": "Hi"}]})" << '\n';
  EXPECT_TRUE(
      contains(refusal("train dialogue --train " + path("bad.jsonl") + " --output " + path("x")), "bad.jsonl, line 1"));
}

}  // namespace
}  // namespace attend
