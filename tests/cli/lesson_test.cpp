// Lessons, run as a user runs them.
#include <gtest/gtest.h>

#include <cstdio>
#include <filesystem>
#include <sstream>

#include "tests/support/run_program.h"
#include "tests/support/temp_folder.h"

namespace attend {
namespace {

using test::Outcome;
using test::run_attend;
using test::run_for_errors;
using test::TempFolder;

/// The last word of the line that begins with these words.
double number_after(const std::string& text, const std::string& words) {
  const std::size_t at = text.find(words);
  if (at == std::string::npos) return -1;
  std::istringstream line(text.substr(at + words.size(), text.find('\n', at) - at - words.size()));
  double number = -1;
  line >> number;
  return number;
}

TEST(Lesson, WithoutANameAllAreListed) {
  const Outcome outcome = run_attend("lesson");
  EXPECT_EQ(outcome.code, 0);
  for (const char* name : {"pooling", "scores", "positions", "cost", "memory"})
    EXPECT_NE(outcome.output.find(name), std::string::npos) << name;
}

TEST(Lesson, AnUnknownOneIsToldWhichThereAre) {
  const Outcome outcome = run_for_errors("lesson pool");
  EXPECT_EQ(outcome.code, 2);
  EXPECT_NE(outcome.output.find("there is no lesson \"pool\"; there are bank, cost, memory, pooling"),
            std::string::npos);
}

TEST(Lesson, ALearnedWidthBeatsAFixedOneOnHeldOutPoints) {
  const TempFolder folder;
  const Outcome outcome = run_attend("lesson pooling --output " + folder.path().string());
  ASSERT_EQ(outcome.code, 0);
  const double average = number_after(outcome.output, "  average"),
               fixed = number_after(outcome.output, "Gaussian, σ = 1");
  const double learned = number_after(outcome.output, "Gaussian, σ learned");
  EXPECT_GT(learned, 0);
  EXPECT_LT(learned, fixed);
  EXPECT_LT(fixed, average);
}

TEST(Lesson, EachWritesAPageAndAPicture) {
  const TempFolder folder;
  for (const char* name : {"pooling", "scores", "positions", "memory"}) {
    ASSERT_EQ(run_attend(std::string("lesson ") + name + " --output " + folder.path().string()).code, 0) << name;
    EXPECT_TRUE(std::filesystem::file_size(folder.path() / (std::string(name) + ".html")) > 1000) << name;
    EXPECT_TRUE(std::filesystem::file_size(folder.path() / (std::string(name) + ".svg")) > 1000) << name;
  }
  const Outcome nowhere = run_attend("lesson pooling --output /dev/full/x 2>&1");
  EXPECT_EQ(nowhere.code, 2);
  EXPECT_NE(nowhere.output.find("/dev/full/x: cannot create this folder: "), std::string::npos) << nowhere.output;
}

}  // namespace
}  // namespace attend
