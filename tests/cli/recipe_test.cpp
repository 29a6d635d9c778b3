// --config: flags from a file, and the recipes in recipes/.
#include <gtest/gtest.h>

#include <fstream>
#include <nlohmann/json.hpp>
#include <string>

#include "tests/support/run_program.h"
#include "tests/support/temp_folder.h"

namespace attend {
namespace {

using test::contains;
using test::contents;
using test::Outcome;
using test::run_attend;
using test::run_for_errors;

class Recipe : public testing::Test {
 protected:
  Recipe() {
    std::ofstream films(folder_ / "films.tsv");
    for (int i = 0; i < 20; ++i) films << "a film\tgood\na plot\tpoor\n";
  }
  std::string file(const std::string& name) const { return (folder_ / name).string(); }
  void write(const std::string& recipe) const { std::ofstream(folder_ / "r.toml") << recipe; }
  /// A classifier trained by the recipe and more flags; its summary.
  Outcome train(const std::string& more = "") const {
    return run_attend("train classifier --threads 1 --overwrite --config " + file("r.toml") + " --output " +
                      file("model") + " " + more);
  }

  test::TempFolder folder_;
};

TEST_F(Recipe, GivesFlagsAndTheCommandLineWins) {
  write("# small\ntrain = \"" + file("films.tsv") +
        "\"\nepochs = 3\nsteps = 2\nhidden = 4\nembedding = 4\ncell = \"lstm\"\none-direction = true\nschedule = "
        "'linear'\n");
  const Outcome all = train("--json 2>/dev/null");
  ASSERT_EQ(all.code, 0);
  EXPECT_EQ(nlohmann::json::parse(all.output).at("steps"), 2);
  nlohmann::json config = nlohmann::json::parse(contents(folder_ / "model/config.json"));
  EXPECT_EQ(config.at("cell"), "lstm");
  EXPECT_EQ(config.at("bidirectional"), false);
  EXPECT_EQ(config.at("hidden"), 4);

  const Outcome some = train("--json --steps 3 --cell gru --bidirectional 2>/dev/null");
  ASSERT_EQ(some.code, 0);
  EXPECT_EQ(nlohmann::json::parse(some.output).at("steps"), 3);
  config = nlohmann::json::parse(contents(folder_ / "model/config.json"));
  EXPECT_EQ(config.at("cell"), "gru");
  EXPECT_EQ(config.at("bidirectional"), true);
  EXPECT_EQ(config.at("hidden"), 4);
}

TEST_F(Recipe, ARunWritesARecipeThatRepeatsIt) {
  const Outcome first = run_attend("train classifier --threads 1 --train " + file("films.tsv") +
                                   " --steps 3 --hidden 4 --embedding 4 --schedule constant --learning-rate 2e-2 "
                                   "--one-direction --output " +
                                   file("first") + " 2>/dev/null");
  ASSERT_EQ(first.code, 0);
  const std::string recipe = contents(folder_ / "first/recipe.toml");
  for (const char* line :
       {"# As attend train classifier was run by Attend ", "\nsteps = 3\n", "\nlearning-rate = 2e-2\n",
        "\nschedule = \"constant\"\n", "\nbidirectional = false\n", "\npool = \"attention\"\n", "\nwarmup = 0\n"})
    EXPECT_TRUE(contains(recipe, line)) << line << recipe;
  EXPECT_FALSE(contains(recipe, "\noutput") || contains(recipe, "config = ")) << recipe;
  ASSERT_EQ(run_attend("train classifier --threads 1 --config " + file("first/recipe.toml") + " --output " +
                       file("second") + " 2>/dev/null >&2")
                .code,
            0);
  EXPECT_EQ(contents(folder_ / "second/model.safetensors"), contents(folder_ / "first/model.safetensors"));
  EXPECT_EQ(contents(folder_ / "second/recipe.toml"), recipe);
}

TEST_F(Recipe, ARunOfATranslatorNamesTheFlagsOfItsArchitectureOnly) {
  const std::string train = "train translation --threads 1 --steps 2 --train " + file("films.tsv") + " --vocab-size ";
  for (const std::string arch : {"12 --arch marian --width 8 --inner 8 --heads 2", "16 --arch rnn --hidden 8"}) {
    ASSERT_EQ(run_attend(train + arch + " --overwrite --output " + file("first") + " >/dev/null 2>&1").code, 0) << arch;
    const Outcome again = run_for_errors("train translation --threads 1 --overwrite --config " +
                                         file("first/recipe.toml") + " --output " + file("second"));
    EXPECT_EQ(again.code, 0) << again.output;
    EXPECT_EQ(contents(folder_ / "second/model.safetensors"), contents(folder_ / "first/model.safetensors")) << arch;
  }
}

TEST_F(Recipe, WhatIsWrongIsNamedWithFileAndLine) {
  struct Case {
    std::string recipe, message;
  };
  for (const auto& [recipe, message] :
       {Case{"epochs = 1\nbatch_tokens = 5\n",
             "r.toml, line 2: there is no \"batch_tokens\" in attend train classifier"},
        {"hidden = -3\n", "r.toml, line 1: --hidden"},
        {"hidden = \"many\"\n", "r.toml, line 1: "},
        {"schedule = \"square\"\n", "r.toml, line 1: --schedule"},
        {"output = \"x\"\n", "\"output\" belongs on the command line"},
        {"config = \"x\"\n", "\"config\" belongs on the command line"},
        {"threads = 2\n", "\"threads\" belongs on the command line"},
        {"bidirectional = 7\n", "is true or false"},
        {"bidirectional = true\none-direction = true\n", "line 2: \"one-direction\" was already set by another key"},
        {"hidden = [1, 2]\n", "r.toml, line 1: "},
        {"hidden\n", "r.toml, line 1: expected ="},
        {"[training]\n", "tables are not supported"}}) {
    write(recipe);
    const Outcome outcome = train("--train " + file("films.tsv") + " 2>&1 >/dev/null");
    EXPECT_EQ(outcome.code, 2) << recipe;
    EXPECT_TRUE(contains(outcome.output, message)) << recipe << outcome.output;
  }
  const Outcome missing = run_for_errors("train classifier --config nowhere --train x --output " + file("x"));
  EXPECT_EQ(missing.code, 2);
  EXPECT_TRUE(contains(missing.output, "nowhere: there is no such file; Attend's recipes: ")) << missing.output;
  EXPECT_TRUE(contains(missing.output, "translation-small")) << missing.output;
}

TEST_F(Recipe, AFlagThatAnotherOneExcludesGivesWayToTheCommandLine) {
  write("train = \"none.tsv\"\n");
  const Outcome outcome = run_for_errors("train translation --config " + file("r.toml") + " --train-source none.en " +
                                         "--train-target none.de --output " + file("x"));
  EXPECT_EQ(outcome.code, 2);
  EXPECT_TRUE(contains(outcome.output, "none.en")) << outcome.output;
}

TEST_F(Recipe, EveryOneOfOursIsTakenByItsVerb) {
  for (const auto& entry : std::filesystem::directory_iterator(ATTEND_SOURCE_DIR "/recipes")) {
    const std::string name = entry.path().stem(), text = contents(entry.path().string());
    const std::size_t verb = text.find("#   attend ");  // each begins with how it is used
    ASSERT_NE(verb, std::string::npos) << name;
    const std::string used = text.substr(verb + 11, text.find(" --config " + name) - verb - 11);
    const Outcome outcome = run_for_errors(used + " --config " + name + " --train " + file("none.tsv") +
                                           " --validation " + file("none.tsv") + " --output " + file("x"));
    EXPECT_EQ(outcome.code, 2) << name;
    EXPECT_TRUE(contains(outcome.output, "none.tsv: ")) << name << ": " << outcome.output;
  }
}

}  // namespace
}  // namespace attend
