// attend attention: every form of output, every kind of model, and what is wrong said plainly.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <sstream>
#include <string>

#include "tests/support/run_program.h"
#include "tests/support/temp_folder.h"

namespace attend {
namespace {

using Json = nlohmann::json;
using test::contains;
using test::contents;
using test::Outcome;
using test::run_attend;
using test::run_for_errors;

const std::string kTests = std::string(ATTEND_SOURCE_DIR) + "/tests/";
const std::string kBert = kTests + "tasks/fixtures/bert_labels", kGpt2 = kTests + "models/fixtures/gpt2_tokenizer",
                  kMarian = kTests + "models/fixtures/marian_tokenizer";

Outcome attention(const std::string& model, const std::string& arguments) {
  return run_attend("attention -m " + model + " " + arguments + " 2>/dev/null");
}
std::string errors(const std::string& model, const std::string& arguments) {
  return run_for_errors("attention -m " + model + " " + arguments).output;
}

TEST(Attention, ThePromisedJsonComesForEveryModel) {
  for (const auto& [model, text] : {std::pair{kBert, "'the river'"}, {kGpt2, "'low lower'"}}) {
    const Json json = Json::parse(attention(model, std::string(text) + " --json").output);
    const std::size_t T = json.at("tokens").size();
    ASSERT_EQ(json.at("layers").size(), 2u);
    for (const Json& layer : json.at("layers"))
      for (const Json& head : layer) {
        ASSERT_EQ(head.size(), T);
        for (const Json& row : head) ASSERT_EQ(row.size(), T);
      }
  }
  const Json json = Json::parse(attention(kMarian, "'Nessuno scrive.' --json").output);
  EXPECT_EQ(json.at("layers")[0][0].size(), json.at("target_tokens").size());
  EXPECT_EQ(json.at("layers")[0][0][0].size(), json.at("source_tokens").size());
  EXPECT_EQ(json.at("views").size(), 3u);
  EXPECT_TRUE(json.contains("alignments"));
}

TEST(Attention, TheEndingOfTheFileChoosesItsForm) {
  const test::TempFolder folder;
  const auto written = [&](const std::string& name, const std::string& flags = "") {
    const std::string path = (folder / name).string();
    EXPECT_EQ(attention(kMarian, "'Nessuno scrive.' --output " + path + " " + flags).code, 0) << name;
    return contents(path);
  };
  EXPECT_TRUE(contains(written("a.html"), "id='w-0-2-0'"));
  EXPECT_TRUE(contains(written("a.svg"), "Cross attention, layer 0, mean of 9 heads"));
  EXPECT_TRUE(contains(written("b.svg", "--view encoder --layer 0 --head 2"), "Encoder attention, layer 0, head 2"));
  EXPECT_EQ(written("a.png").substr(1, 3), "PNG");
  EXPECT_EQ(Json::parse(written("a.json")).at("views").size(), 3u);
  EXPECT_EQ(Json::parse(written("b.json", "--view cross --head 1 --top-weights 2"))
                .at("views")[0]
                .at("layers")[0]
                .at("heads")
                .size(),
            1u);
  EXPECT_EQ(attention(kMarian, "'Nessuno scrive.' --output a.gif").code, 2);
}

TEST(Attention, WithoutAFileThereIsAPictureInTheTerminal) {
  const Outcome outcome = attention(kGpt2, "'low lower' --words --layer 0 --head 4");
  EXPECT_EQ(outcome.code, 0);
  EXPECT_TRUE(contains(outcome.output, "lower"));
  EXPECT_TRUE(contains(outcome.output, "Self attention, layer 0, head 4"));
  EXPECT_TRUE(contains(outcome.output, "█"));
  EXPECT_TRUE(contains(attention(kGpt2, "'low lower' --rollout").output, "roll-out of 2 layers"));
  EXPECT_TRUE(contains(attention(kGpt2, "'low lower' --average-layers").output, "mean of 2 layers"));
  const Json json = Json::parse(attention(kGpt2, "'low lower' --rollout --json").output);
  EXPECT_EQ(json.at("views")[0].at("rollout").size(), json.at("tokens").size());
}

TEST(Attention, ATabMakesAPairOrGivesTheTranslation) {
  const Json pair = Json::parse(attention(kBert, "\"$(printf 'the river\\tof money')\" --json").output);
  EXPECT_EQ(std::ranges::count(pair.at("tokens"), Json("[SEP]")), 2);
  const Json forced = Json::parse(attention(kMarian, "\"$(printf 'Nessuno scrive.\\tThe child')\" --json").output);
  EXPECT_EQ(forced, Json::parse(attention(kMarian, "'Nessuno scrive.' --target 'The child' --json").output));
}

TEST(Attention, ShowsATextAsItWasGenerated) {
  const Json json = Json::parse(attention(kGpt2, "'low lower' --max-new-tokens 4 --json").output);
  EXPECT_EQ(json.at("generated"), 4);
  EXPECT_EQ(json.at("tokens").size(), json.at("logprobs").size());
  std::istringstream beams(attention(kMarian, "'Nessuno scrive.' --beam 3 --nbest 2 --json").output);
  int lines = 0;
  for (std::string line; std::getline(beams, line); ++lines) EXPECT_TRUE(Json::parse(line).contains("score"));
  EXPECT_EQ(lines, 2);
}

TEST(Attention, SummaryHasALineForEachHead) {
  const Outcome table = attention(kBert, "'the river' 'of the money' --summary");
  EXPECT_TRUE(contains(table.output, "2 texts"));
  for (const char* head : {"0.0", "0.1", "1.0", "1.1", "roll-out", "entropy", "separator", "same word"})
    EXPECT_TRUE(contains(table.output, head)) << head;
  std::istringstream lines(attention(kBert, "'the river' --summary --json").output);
  int heads = 0;
  for (std::string line; std::getline(lines, line); ++heads) EXPECT_GE(Json::parse(line).at("entropy"), 0);
  EXPECT_EQ(heads, 5);  // and the roll-out
}

TEST(Attention, WhatIsWrongIsSaid) {
  EXPECT_TRUE(contains(errors(kBert, "'the river' --layer 9"), "no such layer: got 9, expected 0 to 1"));
  EXPECT_TRUE(contains(errors(kBert, "'the river' --layer 9 --output x.html"), "no such layer"));
  EXPECT_TRUE(contains(errors(kBert, "'the river' --view cross"), "self-attention only"));
  EXPECT_TRUE(contains(errors(kMarian, "'a b' --rollout"), "roll-out"));
  std::string longer;
  for (int i = 0; i < 60; ++i) longer += "river ";
  EXPECT_TRUE(contains(errors(kBert, "'" + longer + "'"), "too long"));
  EXPECT_TRUE(contains(errors(kBert, "'" + longer + "' --long truncate"), "was cut"));
  EXPECT_EQ(attention(kBert, "'" + longer + "'").code, 2);
  EXPECT_EQ(attention("/nowhere", "x").code, 2);
  EXPECT_TRUE(contains(errors(kBert, "'the river' --words --json"), "--words"));
  EXPECT_TRUE(contains(errors(kBert, "'the river' --average-layers --output x.json"), "--average-layers"));
  EXPECT_TRUE(contains(errors(kGpt2, "low --beam 2"), "max_new_tokens"));
  EXPECT_TRUE(contains(errors(kGpt2, "low --nbest 2 --max-new-tokens 2"), "beam"));
}

TEST(Attention, AFileThatCannotBeIsSaidBeforeTheModelIsLoaded) {
  EXPECT_TRUE(contains(errors("/nowhere", "x --output x.gif"), "must end with .html, .svg, .png or .json"));
  EXPECT_TRUE(contains(errors("/nowhere", "x --output /nowhere/x.html"), "there is no folder /nowhere"));
  EXPECT_TRUE(contains(run_for_errors("translate -m /nowhere --attention x.gif").output, "must end with"));
}

TEST(Attention, GenerateAndClassifyDrawWhereTheyLooked) {
  const test::TempFolder folder;
  const std::string page = (folder / "a.html").string(), picture = (folder / "b.svg").string();
  ASSERT_EQ(run_attend("generate -m " + kGpt2 + " 'low lower' --max-new-tokens 3 --attention " + page).code, 0);
  EXPECT_TRUE(contains(contents(page), "\"generated\":3"));
  EXPECT_EQ(run_attend("generate -m " + kGpt2 + " low --max-new-tokens 2 --layer 0 2>/dev/null").code, 2);
  ASSERT_EQ(run_attend("classify -m " + kBert + " --attention " + picture + "", "echo 'the river' |").code, 0);
  EXPECT_TRUE(contains(contents(picture), "Self attention, layer 1, mean of 2 heads"));
  const std::string classify = "classify -m " + kBert + " --layer 0 --head 1 --attention ";
  ASSERT_EQ(run_attend(classify + picture, "echo 'the river' |").code, 0);
  EXPECT_TRUE(contains(contents(picture), "Self attention, layer 0, head 1"));
  EXPECT_TRUE(contains(run_for_errors(classify).output, "--layer: is for a picture"));
}

}  // namespace
}  // namespace attend
