// The built program, run as a user runs it: what it prints where, and its exit codes.
#include <gtest/gtest.h>
#include <sys/wait.h>

#include <array>
#include <cstdio>
#include <nlohmann/json.hpp>
#include <string>

#include "attend/core/version.h"

namespace attend {
namespace {

struct Outcome {
  int code;
  std::string output;
};

/// Runs the program through the shell, so that a test can redirect and set variables. Gives standard output.
Outcome run_attend(const std::string& arguments, const std::string& environment = "") {
  const std::string command = environment + " " ATTEND_PROGRAM " " + arguments;
  FILE* pipe = popen(command.c_str(), "r");
  std::string output;
  std::array<char, 4096> buffer{};
  for (std::size_t read; (read = fread(buffer.data(), 1, buffer.size(), pipe)) > 0;) output.append(buffer.data(), read);
  const int status = pclose(pipe);
  return {WIFEXITED(status) ? WEXITSTATUS(status) : -1, output};
}

/// The same, but gives standard error.
Outcome run_for_errors(const std::string& arguments) { return run_attend(arguments + " 2>&1 >/dev/null"); }

bool contains(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

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
