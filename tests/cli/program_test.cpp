// The built program, run as a user runs it: what it prints where, and its exit codes.
#include <gtest/gtest.h>

#include <fstream>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "attend/core/version.h"
#include "tests/support/run_program.h"
#include "tests/support/temp_folder.h"

namespace attend {
namespace {

using test::contains;
using test::Outcome;
using test::run_attend;
using test::run_for_errors;

TEST(Program, VersionIsOneLineOnStandardOutput) {
  const Outcome outcome = run_attend("--version");
  EXPECT_EQ(outcome.code, 0);
  EXPECT_EQ(outcome.output, std::string("attend ") + version() + "\n");
}

TEST(Program, HelpListsTheVerbs) {
  const Outcome outcome = run_attend("--help");
  EXPECT_EQ(outcome.code, 0);
  EXPECT_TRUE(contains(outcome.output, "doctor")) << outcome.output;
  EXPECT_TRUE(contains(outcome.output, "--threads")) << outcome.output;
}

TEST(Program, WithoutAVerbTheHelpGoesToStandardErrorAndTheCodeIsTwo) {
  EXPECT_EQ(run_attend("2>/dev/null").output, "");
  const Outcome outcome = run_for_errors("");
  EXPECT_EQ(outcome.code, 2);
  EXPECT_TRUE(contains(outcome.output, "doctor")) << outcome.output;
}

TEST(Program, AnUnknownVerbIsToldTheNearestOne) {
  const Outcome outcome = run_for_errors("docotr");
  EXPECT_EQ(outcome.code, 2);
  EXPECT_TRUE(contains(outcome.output, "there is no verb \"docotr\"; did you mean \"doctor\"?")) << outcome.output;
}

TEST(Program, AWordNearNoVerbGetsNoGuess) {
  const Outcome outcome = run_for_errors("xyzzy");
  EXPECT_EQ(outcome.code, 2);
  EXPECT_FALSE(contains(outcome.output, "did you mean")) << outcome.output;
}

TEST(Program, AnUnknownFlagIsWrongUsage) {
  const Outcome outcome = run_for_errors("doctor --jsn");
  EXPECT_EQ(outcome.code, 2);
  EXPECT_TRUE(contains(outcome.output, "--jsn")) << outcome.output;
  EXPECT_TRUE(contains(outcome.output, "attend doctor --help")) << outcome.output;
}

TEST(Program, LimitsTheSpinningOfThreadsUnlessTheUserDecides) {
  const auto doctor = [](const std::string& set) {
    return run_attend("doctor", "env -u OMP_WAIT_POLICY -u GOMP_SPINCOUNT " + set).output;
  };
  EXPECT_TRUE(contains(doctor(""), "GOMP_SPINCOUNT=1000")) << doctor("");
  EXPECT_TRUE(contains(doctor("GOMP_SPINCOUNT=7"), "GOMP_SPINCOUNT=7"));
  EXPECT_FALSE(contains(doctor("OMP_WAIT_POLICY=active"), "GOMP_SPINCOUNT"));
}

TEST(Program, ThreadsThatCannotBeAreWrongUsage) {
  for (const char* count : {"0", "-1", "two", "1000000"})
    EXPECT_EQ(run_for_errors(std::string("doctor --threads ") + count).code, 2) << count;
  EXPECT_TRUE(contains(run_for_errors("doctor --threads 0").output, "--threads: must be from 1 to 1024, got 0"));
}

TEST(Program, AnErrorOfTheUserNamesNoPartOfTheLibrary) {
  const Outcome folder = run_for_errors("classify --model nowhere x");
  EXPECT_EQ(folder.code, 2);
  EXPECT_TRUE(folder.output.starts_with("attend: nowhere: ")) << folder.output;
  const test::TempFolder broken;
  std::ofstream(broken / "config.json") << '{';
  EXPECT_TRUE(contains(run_for_errors("classify --model " + broken.path().string() + " x").output,
                       "config.json: is not valid JSON: parse error at line 1"));
  const Outcome line = run_for_errors("tokenize --decode --model " ATTEND_SOURCE_DIR
                                      "/tests/text/fixtures/gpt2 --input " ATTEND_SOURCE_DIR "/README.md");
  EXPECT_EQ(line.code, 2);
  EXPECT_TRUE(line.output.starts_with("attend: " ATTEND_SOURCE_DIR "/README.md, line 1: --decode expects ids"))
      << line.output;
}

TEST(Program, AFolderThatCannotBeMadeIsNamed) {
  const Outcome outcome = run_for_errors("demo --output /proc/none");
  EXPECT_EQ(outcome.code, 2);
  EXPECT_EQ(outcome.output, "attend: /proc/none: No such file or directory\n");
}

TEST(Program, AMistypedFlagIsToldTheNearestOne) {
  const Outcome outcome = run_for_errors("translate --model x --bean 4");
  EXPECT_EQ(outcome.code, 2);
  EXPECT_TRUE(contains(outcome.output, "there is no flag --bean; did you mean --beam?")) << outcome.output;
  EXPECT_TRUE(contains(run_for_errors("translate --max_tokens 4").output, "did you mean --max-tokens?"));
  EXPECT_TRUE(contains(run_for_errors("generate -model x").output, "did you mean --model?"));
  EXPECT_FALSE(contains(run_for_errors("doctor --xyzzyxyzzy").output, "did you mean"));
}

TEST(Program, HelpIsAWordToo) {
  const std::string program = run_attend("--help").output, train = run_attend("train --help").output,
                    translation = run_attend("train translation --help").output;
  EXPECT_TRUE(contains(translation, "Usage: attend train translation --output DIR [OPTIONS]")) << translation;
  EXPECT_EQ(run_attend("help").output, program);
  EXPECT_EQ(run_attend("help train").output, train);
  EXPECT_EQ(run_attend("train help").output, train);
  EXPECT_EQ(run_attend("help train translation").output, translation);
  EXPECT_EQ(run_attend("train help translation").output, translation);
  EXPECT_EQ(run_attend("train translation help").output, translation);
  const Outcome wrong = run_for_errors("help train translaton");
  EXPECT_EQ(wrong.code, 2);
  EXPECT_TRUE(contains(wrong.output, "did you mean \"train translation\"?")) << wrong.output;
}

/// The verbs that `attend --help` lists, and those below them.
std::vector<std::string> all_verbs(const std::string& above = "") {
  std::vector<std::string> verbs;
  std::string heading;
  for (const std::string& line : test::lines_of(run_attend("help" + above).output)) {
    if (line.ends_with(':') && !line.starts_with(' ')) heading = line;
    if (heading.starts_with("Options") || heading.empty() || !line.starts_with("  ") || line[2] == ' ') continue;
    const std::string verb = above + " " + line.substr(2, line.find(' ', 2) - 2);
    const std::string usage = run_attend("help" + verb).output;
    verbs.push_back(verb);
    if (!contains(usage, " VERB [OPTIONS]")) continue;
    for (const std::string& child : all_verbs(verb)) verbs.push_back(child);
  }
  return verbs;
}

TEST(Program, TheHelpOfEveryVerbListsThreadsAndShowsNothingOfTheParser) {
  const std::vector<std::string> verbs = all_verbs();
  EXPECT_GT(verbs.size(), 30u);
  for (const std::string& verb : verbs) {
    const Outcome help = run_attend(verb.substr(1) + " --help");
    EXPECT_EQ(help.code, 0) << verb;
    EXPECT_TRUE(contains(help.output, "--threads N")) << verb << '\n' << help.output;
    for (const char* raw :
         {"REQUIRED", "Excludes", "Needs:", "[Option Group", "{false}", "UINT", "INT:", "otherwise as"})
      EXPECT_FALSE(contains(help.output, raw)) << verb << ": " << raw << '\n' << help.output;
  }
}

TEST(Program, DefaultsAreInTheHelp) {
  const std::string help = run_attend("train translation --help").output;
  for (const char* part : {"(default: 0.001)", "(default: cosine)", "(default: --bidirectional)", "(required)"})
    EXPECT_TRUE(contains(help, part)) << part << '\n' << help;
}

TEST(Program, AMistypedNameGetsASuggestion) {
  const Outcome outcome = run_for_errors("evaluate --metric rogue1");
  EXPECT_EQ(outcome.code, 2);
  EXPECT_TRUE(contains(outcome.output, "got rogue1; did you mean rouge1?")) << outcome.output;
}

TEST(Program, WrongFlagsAreExplainedInPlainWords) {
  struct Case {
    const char *arguments, *message;
  };
  for (const auto& [arguments, message] :
       {Case{"generate -m x --beam 3 --beam 4 hi", "--beam: was given more than once: 3 and 4"},
        {"generate -m x --beam 3 --greedy hi", "--beam and --greedy cannot be given together"},
        {"translate -m x --temperature 2", "--temperature: needs --sample"},
        {"translate", "--model DIR is missing"},
        {"convert", "--model DIR and --output PATH are missing"},
        {"generate -m x hi --beam", "--beam: needs a value: N"},
        {"generate --model --json hi", "--model: needs a value, but --json follows it"},
        {"generate -m x hi --seed one", "--seed: must be a number, got one"},
        {"corpus split x -o y --seed -1", "--seed: must be a whole number, 0 or more, got -1"},
        {"generate -m x hi --seed 99999999999999999999999", "--seed: is too large or too small"},
        {"generate -m x hi --temperature nan", "--temperature: must be"},
        {"doctor --json=maybe", "--json: takes no value, got maybe"},
        {"doctor now", "\"now\" is not expected here: attend doctor takes no further arguments"},
        {"train classifier --lowercase --cased --train x -o y", "--lowercase: is switched both on and off"},
        {"evaluate --metric bleu,blue", "--metric: must be bleu, chrf, chrf++"},
        {"evaluate --metric rouge a b", "\"a\" is not expected here"}}) {
    const Outcome outcome = run_for_errors(arguments);
    EXPECT_EQ(outcome.code, 2) << arguments;
    EXPECT_TRUE(contains(outcome.output, std::string("attend: ") + message)) << arguments << '\n' << outcome.output;
    EXPECT_TRUE(contains(outcome.output, "\nSee: attend ")) << outcome.output;
  }
}

TEST(Program, AFlagMayHaveAnEmptyValueAndArgumentsMayBeginWithDashes) {
  EXPECT_TRUE(contains(run_for_errors("embed --prompt= --model nowhere").output, "nowhere"));
  EXPECT_TRUE(contains(run_for_errors("generate --model nowhere -- --beam").output, "nowhere"));
}

TEST(Doctor, PrintsWhatTheMachineGives) {
  const Outcome outcome = run_attend("doctor");
  EXPECT_EQ(outcome.code, 0);
  for (const char* part : {"CPU", "Instructions", "Threads", "Memory", "Huge pages", "oneDNN", "Highway", "OpenMP"})
    EXPECT_TRUE(contains(outcome.output, part)) << part << " is missing in:\n" << outcome.output;
}

TEST(Doctor, JsonIsOneObjectOnOneLine) {
  const Outcome outcome = run_attend("doctor --json");
  ASSERT_EQ(outcome.code, 0);
  EXPECT_EQ(outcome.output.find('\n'), outcome.output.size() - 1);
  const nlohmann::json json = nlohmann::json::parse(outcome.output);
  EXPECT_EQ(json.at("version"), version());
  EXPECT_GE(json.at("threads"), 1);
  EXPECT_GT(json.at("memory").at("total"), 0);
  EXPECT_FALSE(json.at("instructions").at("own").get<std::string>().empty());
  EXPECT_TRUE(json.at("warnings").is_array());
}

TEST(Doctor, ThreadsMayStandBeforeOrAfterTheVerb) {
  for (const char* arguments : {"--threads 3 doctor --json", "doctor --json --threads 3"})
    EXPECT_EQ(nlohmann::json::parse(run_attend(arguments).output).at("threads"), 3) << arguments;
}

TEST(Doctor, WarnsWhenOneDnnIsHeldBack) {
  const Outcome outcome = run_attend("doctor", "ONEDNN_MAX_CPU_ISA=SSE41");
  EXPECT_TRUE(contains(outcome.output, "ONEDNN_MAX_CPU_ISA=SSE41 limits oneDNN")) << outcome.output;
}

}  // namespace
}  // namespace attend
