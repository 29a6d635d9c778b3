// attend train algorithm and run-algorithm, run as a user runs them.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "tests/support/run_program.h"
#include "tests/support/temp_folder.h"

namespace attend {
namespace {

using test::contains;
using test::run_attend;
using test::run_for_errors;

TEST(Algorithm, IsLearnedRunAndDrawn) {
  const test::TempFolder folder;
  const std::string model = (folder / "copier").string();
  ASSERT_EQ(run_attend("train algorithm --task copy --steps 5 --threads 1 --output " + model + " 2>/dev/null").code, 0);
  const std::string run = "run-algorithm --model " + model;
  const auto json = nlohmann::json::parse(run_attend(run + " --length 5 --json").output);
  EXPECT_EQ(json.at("task"), "copy");
  EXPECT_EQ(json.at("steps"), 11);
  EXPECT_EQ(json.at("input").size(), 11u);
  const std::string shown = run_attend(run + " --sequence '01101100 11100011'").output;
  EXPECT_TRUE(contains(shown, "copy, length 2") && contains(shown, "of 16 bits wrong")) << shown;
  ASSERT_EQ(run_attend(run + " --length 4 --output " + (folder / "heads.svg").string()).code, 0);
  EXPECT_TRUE(test::contents(folder / "heads.svg").starts_with("<svg"));
}

TEST(Algorithm, TheHelpShowsTheDefaultsOfEachTask) {
  const std::string help = run_attend("train algorithm --help").output;
  for (const char* text : {"task         controller", "repeat-copy  ", "ngrams       "})
    EXPECT_TRUE(contains(help, text)) << text;
}

TEST(Algorithm, TheRecipeOfARunRepeatsIt) {
  const test::TempFolder folder;
  const std::string first = (folder / "first").string(), second = (folder / "second").string();
  ASSERT_EQ(run_attend("train algorithm --task recall --steps 3 --threads 1 --output " + first + " 2>/dev/null").code,
            0);
  ASSERT_EQ(run_attend("train algorithm --config " + first + "/recipe.toml --output " + second + " 2>/dev/null").code,
            0);
  EXPECT_EQ(test::contents(folder / "first/model.safetensors"), test::contents(folder / "second/model.safetensors"));
}

TEST(Algorithm, WrongUseIsAnErrorThatSaysWhatIsExpected) {
  const test::TempFolder folder;
  const std::string model = (folder / "lstm").string();
  ASSERT_EQ(
      run_attend("train algorithm --task recall --arch lstm --steps 2 --threads 1 --output " + model + " 2>/dev/null")
          .code,
      0);
  const auto refused = [](const std::string& arguments, const char* message) {
    const test::Outcome outcome = run_for_errors(arguments);
    EXPECT_EQ(outcome.code, 2) << arguments;
    EXPECT_TRUE(contains(outcome.output, message)) << outcome.output;
  };
  refused("train algorithm --task sorting --output " + model, "must be copy, repeat-copy, recall, sort or ngrams");
  refused("train algorithm --task copy --output " + model, "overwrite");
  refused("run-algorithm --model " + model + " --sequence 0110", "got 4 in \"0110\", expected 6");
  refused("classify --model " + model + " x", "expected a classifier");
  refused("run-algorithm --model " ATTEND_SOURCE_DIR "/tests/tasks/fixtures/bert_labels", "expected a Turing machine");
}

}  // namespace
}  // namespace attend
