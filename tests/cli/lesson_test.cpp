// Lessons, run as a user runs them.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
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
  EXPECT_NE(outcome.output.find("there is no lesson \"pool\"; the lessons are bank, cost, documents, memory, pooling"),
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

TEST(Lesson, PoolingComparesItselfWithTheTrueFunctionOnTheSamePoints) {
  const TempFolder folder;
  std::string text = run_attend("lesson pooling --output " + folder.path().string()).output;
  const double noise = number_after(text, "the true function"), learned = number_after(text, "Gaussian, σ learned");
  EXPECT_GT(noise, 0);
  std::ranges::replace(text, '\n', ' ');  // sentences are wrapped
  EXPECT_EQ(number_after(text, "its error on them is"), noise);
  EXPECT_NEAR(number_after(text, "comes within"), std::abs(learned - noise), 0.0011);
  // The three maps have one scale.
  std::vector<double> full;
  for (std::size_t at = 0; (at = text.find("(full colour: ", at)) != std::string::npos; ++at)
    full.push_back(number_after(text.substr(at), "(full colour: "));
  EXPECT_EQ(full, std::vector<double>(3, full.empty() ? 0 : full.front()));
}

TEST(Lesson, PositionsDescribeTheirOwnPlot) {
  const TempFolder folder;
  std::string text = run_attend("lesson positions --output " + folder.path().string()).output;
  std::ranges::replace(text, '\n', ' ');
  const double fallen = number_after(text, "at distance 0 to"), low = number_after(text, "falls and rises: it is"),
               high = number_after(text, "and again");
  EXPECT_GT(fallen, 0);
  EXPECT_LT(low, fallen);
  EXPECT_GT(high, low);
  EXPECT_EQ(text.find("falls with"), std::string::npos);
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
