// attend train answer, attend finetune answer, attend answer and attend evaluate --answers, run as a user runs them.
#include <gtest/gtest.h>

#include <fstream>
#include <nlohmann/json.hpp>

#include "tests/support/run_program.h"
#include "tests/tasks/bert_fixture.h"
#include "tests/tasks/question_answering/questions_fixture.h"

namespace attend {
namespace {

using test::contains;
using test::Outcome;
using test::run_attend;
using test::run_for_errors;
using Json = nlohmann::json;

/// A small network, trained once.
class AnswerVerbs : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    folder_ = new test::QuestionFolder;
    trained_ = new Outcome(run_attend(
        "train answer --arch bidaf --threads 1 --embedding 12 --hidden 12 --filters 8 --word-bytes 8 "
        "--epochs 15 --learning-rate 1e-2 --average 0 --dropout 0.2 --word-dropout 0 --test-share 0.1 --train " +
        path("train2.json") + " --validation " + path("dev2.json") + " --output " + path("model") + " 2>/dev/null"));
  }
  static void TearDownTestSuite() { delete folder_, delete trained_; }
  static std::string path(const std::string& name) { return (*folder_ / name).string(); }
  static Outcome answer(const std::string& flags) {
    return run_attend("answer --model " + path("model") + " " + flags);
  }
  static std::string refusal(const std::string& arguments) {
    const Outcome outcome = run_for_errors(arguments);
    EXPECT_EQ(outcome.code, 2) << outcome.output;
    return outcome.output;
  }

  static test::QuestionFolder* folder_;
  static Outcome* trained_;
};
test::QuestionFolder* AnswerVerbs::folder_ = nullptr;
Outcome* AnswerVerbs::trained_ = nullptr;

constexpr const char* kAsked =
    "--question 'Where does Dario live?' "
    "--text 'Carla lives in Bari and likes maps. Dario lives in Rome and likes old songs.' ";

TEST_F(AnswerVerbs, ATrainedNetworkAnswers) {
  ASSERT_EQ(trained_->code, 0);
  EXPECT_TRUE(contains(trained_->output, "exact match")) << trained_->output;
  const Outcome outcome = answer(std::string(kAsked) + "--json --top 2");
  ASSERT_EQ(outcome.code, 0);
  const Json json = Json::parse(outcome.output);
  EXPECT_EQ(json["answer"], "Rome");
  EXPECT_EQ(json["start"], 51);
  EXPECT_EQ(json["answers"].size(), 2u);
  EXPECT_TRUE(contains(answer(kAsked).output, "\t51-55\tRome\n"));
  EXPECT_TRUE(contains(answer("--may-lack --question 'Where does Anna live?' --text 'Bruno lives in Bari.'").output,
                       "\t0-0\t\n"));
}

TEST_F(AnswerVerbs, BlankQuestionsAndTextsHaveNoAnswer) {
  std::ofstream(path("lines.tsv"))
      << "Where does Anna live?\tAnna lives in Rome.\n\n \tAnna lives in Rome.\nWhere?\t\n";
  const std::vector<std::string> lines = test::lines_of(answer("--json --input " + path("lines.tsv")).output);
  ASSERT_EQ(lines.size(), 4u);
  EXPECT_EQ(Json::parse(lines[0])["answer"], "Rome");
  for (std::size_t i = 1; i < 4; ++i) EXPECT_TRUE(Json::parse(lines[i])["answer"].is_null());
  std::ofstream(path("lines.tsv")) << "no tab\n";
  EXPECT_TRUE(contains(refusal("answer --model " + path("model") + " --input " + path("lines.tsv")), "no tab"));
}

TEST_F(AnswerVerbs, TheAttentionIsPrintedAndWritten) {
  const std::string shown = answer(std::string(kAsked) + "--attention").output;
  EXPECT_TRUE(contains(shown, "the question attends")) << shown;
  EXPECT_TRUE(contains(shown, "* Rome")) << shown;
  for (const char* name : {"a.html", "a.svg", "a.json"}) {
    EXPECT_EQ(answer(std::string(kAsked) + "--attention=" + path(name)).code, 0);
    EXPECT_TRUE(contains(test::contents(path(name)), "Rome")) << name;
  }
  const Json map = Json::parse(test::contents(path("a.json")));
  std::vector<std::string> names;
  for (const Json& view : map["views"]) names.push_back(view["name"]);
  EXPECT_EQ(names, (std::vector<std::string>{"context-to-question", "question-to-context"}));
}

TEST_F(AnswerVerbs, TheAttentionOfALongTextIsThatOfTheWindowWithTheAnswer) {
  const std::string windows = std::string(kAsked) + "--max-tokens 13 --overlap 0 ";
  ASSERT_TRUE(contains(answer(windows).output, "\t51-55\tRome\n"));
  const Outcome both = run_for_errors("answer --model " + path("model") + " " + windows + "--attention");
  EXPECT_TRUE(contains(both.output, "the attention is that of the characters 36-")) << both.output;
  EXPECT_TRUE(contains(answer(windows + "--attention 2>/dev/null").output, "* Rome"));
  EXPECT_EQ(answer(windows + "--attention=" + path("window.json") + " 2>/dev/null").code, 0);
  const std::string map = test::contents(path("window.json"));
  EXPECT_TRUE(contains(map, "Rome") && !contains(map, "Carla")) << map;
  // A text that is read as a whole needs no notice.
  EXPECT_FALSE(contains(run_for_errors("answer --model " + path("model") + " " + kAsked + "--attention").output,
                        "the characters"));
}

TEST_F(AnswerVerbs, AModelIsEvaluatedOnQuestionsWithReferences) {
  const std::string evaluate = "evaluate --answers " + path("dev2.json") + " ";
  const Outcome outcome = run_attend(evaluate + "--json --model " + path("model") + " --save-predictions " +
                                     path("p.json") + " 2>/dev/null");
  ASSERT_EQ(outcome.code, 0);
  const Json json = Json::parse(outcome.output);
  EXPECT_GT(json["f1"], 90);
  EXPECT_GT(json["exact_match"], 90);
  EXPECT_EQ(json["total"], 80);
  EXPECT_EQ(json["NoAns_total"], 16);
  // The saved predictions have the same scores.
  const std::string predicted = evaluate + "--predictions " + path("p.json");
  EXPECT_EQ(run_attend(predicted + " --json").output, outcome.output);
  const std::string text = run_attend(predicted + " --confidence --resamples 100").output;
  EXPECT_TRUE(contains(text, "exact_match = ") && contains(text, " (μ = ")) << text;
  EXPECT_TRUE(contains(text, "without an answer, 16 questions: ")) << text;
  std::ofstream(path("few.json")) << R"({"0.0.0": "x"})";
  EXPECT_TRUE(contains(run_for_errors(evaluate + "--predictions " + path("few.json")).output, "79 questions"));
  EXPECT_TRUE(contains(text, " %")) << text;
  // In windows that are too short for most questions, there are no answers.
  const std::string narrow = evaluate + "--json --model " + path("model") + " --max-tokens 5 --overlap 0 2>/dev/null";
  EXPECT_LT(Json::parse(run_attend(narrow).output)["f1"], 50);
  // The held-out questions.
  EXPECT_EQ(
      run_attend("evaluate --model " + path("model") + " --answers " + path("model/test.json") + " 2>/dev/null").code,
      0);
}

TEST_F(AnswerVerbs, AnEncoderIsFineTuned) {
  const std::string flags = " --threads 1 --steps 2 --validation-share 0.1 --language it --train " +
                            path("train.json") + " --from " + test::bert_fixture("bert_words").string();
  EXPECT_EQ(run_attend("finetune answer --max-tokens 30 --output " + path("bert") + flags + " 2>/dev/null").code, 0);
  EXPECT_EQ(run_attend("answer --model " + path("bert") +
                       " -q 'who?' -t 'the child is here' --attention=" + path("bert.html"))
                .code,
            0);
}

TEST_F(AnswerVerbs, WrongFlagsAndFoldersAreErrors) {
  const std::string evaluate = "evaluate --answers " + path("dev.json") + " ";
  EXPECT_TRUE(contains(refusal(evaluate), "needs --model or --predictions"));
  EXPECT_TRUE(contains(refusal(evaluate + "--model x --predictions y"), "--predictions"));
  EXPECT_TRUE(contains(refusal(evaluate + "--model x --metric bleu"), "--metric"));
  EXPECT_TRUE(contains(refusal("evaluate --model x"), "needs --answers, --stories or --dialogues"));
  EXPECT_TRUE(contains(refusal(evaluate + "--predictions y --language xx"), "--language"));
  EXPECT_TRUE(contains(refusal(evaluate + "--predictions y --max-tokens 9"), "--max-tokens"));
  EXPECT_TRUE(contains(refusal("evaluate --model " + path("model") + " --answers " + path("p.txt")), "p.txt"));
  EXPECT_TRUE(contains(refusal("train answer --train " + path("dev.json") + " --output " + path("x") +
                               " --validation-share 0.6 --test-share 0.6"),
                       "leave no questions"));
  EXPECT_TRUE(contains(refusal("answer --interactive --model " + path("model")), "is only for models that answer"));
  // A folder of another kind: the error names what can answer.
  const std::string error =
      refusal("answer -q a -t b --model " ATTEND_SOURCE_DIR "/tests/models/fixtures/gpt2_unscaled");
  EXPECT_TRUE(contains(error, "expected a model that finds the answer in a text (")) << error;
  EXPECT_TRUE(contains(error, "or a model that answers questions about stories (")) << error;
  EXPECT_TRUE(contains(error, "attend-memory-network")) << error;
}

}  // namespace
}  // namespace attend
