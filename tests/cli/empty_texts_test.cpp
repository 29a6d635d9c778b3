// What every verb that reads lines does without input, with an empty line, and with an empty text as an argument: the
// table of docs/lines.md.
#include <gtest/gtest.h>

#include <fstream>
#include <string>
#include <vector>

#include "tests/support/run_program.h"
#include "tests/support/temp_folder.h"

namespace attend {
namespace {

using test::contains;
using test::run_attend;
using test::run_for_errors;

const std::string kModels = ATTEND_SOURCE_DIR "/tests/models/fixtures/";
const std::string kTasks = ATTEND_SOURCE_DIR "/tests/tasks/fixtures/";

struct Case {
  std::string name, command;
  std::string printed;        // for one empty line; "…": anything
  std::string warned;         // for one empty line; "": no warning
  bool takes_text = true;     // whether the text can be an argument
  std::string argument = "";  // the flag before it
};

// The name of a test when it fails.
std::ostream& operator<<(std::ostream& out, const Case& c) { return out << c.name; }

std::vector<Case> cases() {
  const std::string gpt2 = kModels + "gpt2_tokenizer", bert = kTasks + "bert_labels";
  return {
      {"translate", "translate --model " + kModels + "marian_tokenizer", "\n", ""},
      {"generate", "generate --max-new-tokens 2 --model " + gpt2, "…", ""},
      {"chat", "chat --max-new-tokens 2 --model " + gpt2, "", "", false},
      {"score", "score --model " + gpt2, "0.0000\t\n", "1 text has no perplexity"},
      {"score_whole", "score --whole --model " + gpt2, "0.0000\t\n", "1 text has no perplexity", false},
      {"score_json", "score --json --model " + gpt2,
       R"({"text":"","tokens":[],"ids":[],"logprobs":[],"logprob":0.0,"perplexity":null})"
       "\n",
       "1 text has no perplexity"},
      {"classify", "classify --model " + bert, "\n", "1 empty text has no label"},
      {"classify_attention", "classify --attention --top 2 --model " + bert, "\n", "1 empty text has no label"},
      {"classify_pairs", "classify --pairs --model " + bert, "\n", "1 empty text has no label"},
      {"classify_json", "classify --json --model " + bert,
       R"({"text":"","label":null,"prob":null,"probs":{}})"
       "\n",
       "1 empty text has no label"},
      {"classify_several", "classify --json --model " + kTasks + "bert_several_labels",
       R"({"text":"","label":null,"prob":null,"probs":{},"labels":[]})"
       "\n",
       "1 empty text has no label"},
      {"embed", "embed --model " + kTasks + "sentence_mean", "…", "1 empty text has a vector without meaning"},
      {"fill_mask", "fill-mask --model " + kTasks + "bert_words", "\n", "1 text has no mask"},
      {"fill_mask_json", "fill-mask --json --model " + kTasks + "bert_words",
       R"({"text":"","masks":[]})"
       "\n",
       "1 text has no mask"},
      {"answer", "answer --model " + kTasks + "bert_answers", "\n", "1 empty text has no answer", false},
      {"answer_json", "answer --json --model " + kTasks + "bert_answers",
       R"({"question":"","answer":null,"score":null,"start":null,"end":null})"
       "\n",
       "1 empty text has no answer", false},
      {"answer_a_question", "answer --question Who? --model " + kTasks + "bert_answers", "\n",
       "1 empty text has no answer", true, "--text"},
      {"tag", "tag --model " + kTasks + "bert_tags", "\n", ""},
      {"tag_json", "tag --json --model " + kTasks + "bert_tags",
       R"({"text":"","tags":[]})"
       "\n",
       ""},
      {"attention_bert", "attention --model " + bert, "", "1 empty text has no attention weights"},
      {"attention_gpt2", "attention --model " + gpt2, "", "1 empty text has no attention weights"},
      {"attention_json", "attention --json --model " + gpt2, "", "1 empty text has no attention weights"},
      {"attention_summary", "attention --summary --model " + gpt2, "", "1 empty text has no attention weights"},
      {"attention_marian", "attention --model " + kModels + "marian_tokenizer", "",
       "1 empty text has no attention weights"},
      {"tokenize", "tokenize --ids --model " + bert, "2 3\n", "", false},
      {"tokenize_decode", "tokenize --decode --model " + bert, "\n", "", false},
  };
}

class EmptyTexts : public testing::TestWithParam<Case> {};

TEST_P(EmptyTexts, NoInputGivesNoOutput) {
  const test::Outcome outcome = run_attend(GetParam().command + " 2>&1 </dev/null");
  EXPECT_EQ(outcome.code, 0);
  EXPECT_EQ(outcome.output, "");
}

TEST_P(EmptyTexts, AnEmptyLineKeepsItsPlaceAndAnEmptyArgumentIsAnEmptyLine) {
  const Case& c = GetParam();
  const auto check = [&](const std::string& command) {
    const test::Outcome outcome = run_attend(command + " 2>/dev/null");
    EXPECT_EQ(outcome.code, 0) << command;
    if (c.printed == "…")
      EXPECT_NE(outcome.output, "") << command;
    else
      EXPECT_EQ(outcome.output, c.printed) << command;
    const std::string errors = run_for_errors(command).output;
    if (c.warned.empty())
      EXPECT_EQ(errors, "") << command;
    else
      EXPECT_TRUE(contains(errors, "attend: warning: " + c.warned)) << command << '\n' << errors;
  };
  const test::TempFolder folder;
  std::ofstream(folder / "line") << '\n';
  check(c.command + " --input " + (folder / "line").string());
  if (c.takes_text) check(c.command + " " + c.argument + " ''");
}

INSTANTIATE_TEST_SUITE_P(Verbs, EmptyTexts, testing::ValuesIn(cases()),
                         [](const auto& test_case) { return test_case.param.name; });

TEST(EmptyLines, DoNotShiftTheResultsOrTheNumbersOfOtherLines) {
  const test::TempFolder folder;
  std::ofstream(folder / "lines") << "\nthe child reads\n \nNobody here\n";
  const std::string lines = " --input " + (folder / "lines").string(), model = "classify --model " + kTasks;
  const std::string alone = run_attend(model + "bert_labels 'the child reads' 'Nobody here'").output;
  const std::vector<std::string> label = test::lines_of(alone),
                                 found = test::lines_of(run_attend(model + "bert_labels 2>/dev/null" + lines).output);
  ASSERT_EQ(label.size(), 2u);
  EXPECT_EQ(found, (std::vector<std::string>{"", label[0], "", label[1]}));
  EXPECT_TRUE(contains(run_for_errors(model + "bert_labels --pairs" + lines).output, "line 2: has no tab"));
}

TEST(EmptyLines, SimilarTakesNoQueryAndNoText) {
  const std::string use = "similar --model " + kTasks + "sentence_mean --json ";
  const test::TempFolder folder;
  std::ofstream(folder / "texts") << "the child\n";
  const test::Outcome no_query = run_attend(use + "--queries - --texts " + (folder / "texts").string() + " </dev/null");
  EXPECT_EQ(no_query.code, 0);
  EXPECT_EQ(no_query.output, "");
  const test::Outcome no_text = run_attend(use + "--query child --texts /dev/null 2>/dev/null");
  EXPECT_EQ(no_text.code, 0);
  EXPECT_EQ(no_text.output, "{\"query\":\"child\",\"matches\":[]}\n");
  EXPECT_TRUE(contains(run_for_errors(use + "--query child --texts /dev/null").output, "there are no texts"));
  EXPECT_TRUE(contains(run_for_errors(use + "--query '' --texts " + (folder / "texts").string()).output,
                       "1 empty text has a vector without meaning"));
}

TEST(EmptyLines, AnAttentionFileThatShowsNothingIsReported) {
  const test::TempFolder folder;
  for (const char* name : {"x.html", "x.svg", "x.json"}) {
    const test::Outcome outcome = run_for_errors("attention --model " + kTasks + "bert_labels --output " +
                                                 (folder / name).string() + " </dev/null");
    EXPECT_EQ(outcome.code, 0);
    EXPECT_TRUE(contains(outcome.output, std::string(name) + ": shows nothing")) << outcome.output;
  }
}

TEST(EmptyLines, FillMaskRefusesTextsOfWhichNoneHasAMask) {
  const std::string use = "fill-mask --model " + kTasks + "bert_words ";
  EXPECT_EQ(run_for_errors(use + "'the child' ''").code, 2);
  EXPECT_EQ(run_for_errors(use + "'the [MASK]' ''").code, 0);
}

}  // namespace
}  // namespace attend
