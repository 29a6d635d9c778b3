// The built program, run as a user runs it: what it prints where, and its exit codes.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>

#include "attend/core/version.h"
#include "tests/support/run_program.h"

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

TEST(Program, ThreadsThatCannotBeAreWrongUsage) {
  for (const char* count : {"0", "-1", "two", "1000000"})
    EXPECT_EQ(run_for_errors(std::string("doctor --threads ") + count).code, 2) << count;
  EXPECT_TRUE(contains(run_for_errors("doctor --threads 0").output, "--threads: must be from 1 to 1024, got 0"));
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
  EXPECT_TRUE(contains(outcome.output, "ONEDNN_MAX_CPU_ISA=SSE41 holds oneDNN back")) << outcome.output;
}

}  // namespace
}  // namespace attend
