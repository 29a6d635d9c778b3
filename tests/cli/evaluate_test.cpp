// attend evaluate, run as a user runs it.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
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

/// A folder with the files that the tests score.
class Evaluate : public testing::Test {
 protected:
  Evaluate() {
    write("hyp", "The dog bit the man.\nIt wasn't surprising.\nThe man had just bitten him.\n");
    write("ref1", "The dog bit the man.\nIt was not unexpected.\nThe man bit him first.\n");
    write("ref2", "The dog had bit the man.\nNo one was surprised.\nThe man had bitten the dog.\n");
    write("labels", "cat\t0.9\ncat\t0.8\ndog\t0.7\nowl\t0.5\n");
    write("gold", "cat\ndog\ndog\nowl\n");
    write("scores",
          R"({"text": "abcd", "tokens": ["ab", "cd"], "ids": [1, 2], "logprobs": [null, -2.0], "logprob": -2.0})"
          "\n"
          R"({"text": "efgh", "tokens": ["ef", "gh"], "ids": [3, 4], "logprobs": [-1.0, -3.0], "logprob": -4.0})"
          "\n");
  }
  void write(const std::string& name, const std::string& text) const { std::ofstream(folder_ / name) << text; }
  std::string file(const std::string& name) const { return (folder_ / name).string(); }
  nlohmann::json json(const std::string& arguments) const {
    const Outcome outcome = run_attend("evaluate --json " + arguments);
    EXPECT_EQ(outcome.code, 0);
    return nlohmann::json::parse(outcome.output);
  }

  test::TempFolder folder_;
};

TEST_F(Evaluate, PrintsSacreBleusLineWithOurVersion) {
  const Outcome outcome =
      run_attend("evaluate -m bleu -r " + file("ref1") + " -r " + file("ref2") + " -i " + file("hyp"));
  EXPECT_EQ(outcome.code, 0);
  EXPECT_EQ(outcome.output, std::string("BLEU|nrefs:2|case:mixed|eff:no|tok:13a|smooth:exp|version:attend-") +
                                version() +
                                " = 48.53 82.4/50.0/45.5/37.5 (BP = 0.943 ratio = 0.944 hyp_len = 17 ref_len = 18)\n");
}

TEST_F(Evaluate, ReadsStandardInputAndScoresBleuAndChrfUnlessAskedOtherwise) {
  const nlohmann::json scores = json("--reference " + file("ref1") + " < " + file("hyp"));
  EXPECT_GT(scores.at("bleu"), 0);
  EXPECT_GT(scores.at("chrf"), 0);
  EXPECT_EQ(scores.at("lines"), 3);
  EXPECT_FALSE(contains(scores.at("chrf_details").at("signature").get<std::string>(), "bs:"));
}

TEST_F(Evaluate, ConfidenceIsTheSameForTheSameSeed) {
  const std::string arguments = "--confidence --resamples 200 -r " + file("ref1") + " -i " + file("hyp");
  const nlohmann::json one = json(arguments), same = json(arguments + " --threads 1"),
                       other = json(arguments + " --seed 1");
  EXPECT_EQ(one, same);
  EXPECT_NE(one, other);
  EXPECT_GT(one.at("bleu_details").at("confidence").at("half_width"), 0);
  EXPECT_TRUE(contains(one.at("bleu_details").at("signature").get<std::string>(), "nrefs:1|bs:200|seed:12345|"));
}

TEST_F(Evaluate, SeveralSystemsStandSideBySide) {
  const std::string arguments = "-r " + file("ref1") + " -i " + file("hyp") + " " + file("ref1");
  const Outcome outcome = run_attend("evaluate " + arguments);
  EXPECT_EQ(outcome.code, 0);
  for (const char* part : {"system", "BLEU", "chrF2", "100.00", "|nrefs:1|case:mixed"})
    EXPECT_TRUE(contains(outcome.output, part)) << part << " is missing in:\n" << outcome.output;
  const std::string lines = run_attend("evaluate --json --confidence " + arguments).output;
  const nlohmann::json second = nlohmann::json::parse(lines.substr(lines.find('\n') + 1));
  EXPECT_EQ(second.at("system"), file("ref1"));
  EXPECT_NEAR(second.at("bleu").get<double>(), 100, 1e-9);
  EXPECT_GT(second.at("bleu_details").at("p_value"), 0);
}

TEST_F(Evaluate, LinesAreGroupedByTheLengthOfTheirSources) {
  write("sources", "eins zwei drei\nvier\n  fünf   sechs sieben \nacht neun\n");
  const std::string arguments =
      "evaluate -m accuracy --by-length " + file("sources") + " -r " + file("gold") + " -i " + file("labels");
  EXPECT_EQ(run_attend(arguments + " --lengths 1,2").output,
            "words  lines  accuracy\n"
            "1      1      0.0000\n"
            "2      1      1.0000\n"
            "3      2      1.0000\n"
            "all    4      0.7500\n");
  EXPECT_EQ(
      run_attend(arguments + " --lengths 2,9 --json | head -n 1").output,
      "{\"system\":\"" + file("labels") + "\",\"least_words\":1,\"most_words\":2,\"lines\":2,\"accuracy\":0.5}\n");
  EXPECT_TRUE(contains(run_attend(arguments).output, "all    4"));
  write("short", "eins\n");
  const Outcome outcome =
      run_for_errors("evaluate --by-length " + file("short") + " -r " + file("gold") + " -i " + file("labels"));
  EXPECT_EQ(outcome.code, 2);
  EXPECT_TRUE(contains(outcome.output, "has 4 lines, but " + file("short") + " has 1")) << outcome.output;
  EXPECT_NE(run_for_errors("evaluate --lengths 3 -r " + file("ref1") + " -i " + file("hyp")).code, 0);
}

TEST_F(Evaluate, SentencesHaveALineEach) {
  const std::string arguments = "evaluate --sentence -m bleu,chrf++ -r " + file("ref1") + " -i " + file("hyp");
  const std::string text = run_attend(arguments).output;
  EXPECT_TRUE(text.starts_with("BLEU\tchrF2++\n100.00\t100.00\n")) << text;
  EXPECT_EQ(std::ranges::count(text, '\n'), 4);
  const std::string first = run_attend(arguments + " --json | head -n 1").output;
  EXPECT_NEAR(nlohmann::json::parse(first).at("chrf++").get<double>(), 100, 1e-9);
}

TEST_F(Evaluate, RougeIsAllOfItsKinds) {
  write("summary", "the cats sleep\nno\n");
  write("reference", "the cat sleeps\nyes\n");
  const std::string files = " -r " + file("reference") + " -i " + file("summary");
  EXPECT_EQ(run_attend("evaluate -m rouge" + files).output,
            "rouge1 = 16.67 F1 (precision 16.67, recall 16.67)\n"
            "rouge2 = 0.00 F1 (precision 0.00, recall 0.00)\n"
            "rougeL = 16.67 F1 (precision 16.67, recall 16.67)\n"
            "rougeLsum = 16.67 F1 (precision 16.67, recall 16.67)\n");
  EXPECT_EQ(json("-m rouge2 --stem" + files).at("rouge2"), 50);
  EXPECT_TRUE(contains(run_for_errors("evaluate -m bleu --stem" + files).output, "--stem: needs --metric rouge"));
}

TEST_F(Evaluate, LabelsStandBeforeATab) {
  const nlohmann::json scores = json("-m accuracy,f1 -r " + file("gold") + " -i " + file("labels"));
  EXPECT_DOUBLE_EQ(scores.at("accuracy"), 0.75);
  EXPECT_DOUBLE_EQ(scores.at("f1"), (2. / 3 + 2. / 3 + 1) / 3);
  EXPECT_DOUBLE_EQ(scores.at("f1_details").at("micro"), 0.75);
  EXPECT_EQ(scores.at("f1_details").at("confusion"), nlohmann::json({{1, 0, 0}, {1, 1, 0}, {0, 0, 1}}));
  const std::string text = run_attend("evaluate -m f1 -r " + file("gold") + " -i " + file("labels")).output;
  EXPECT_TRUE(contains(text, "F1 = 0.7778 macro, 0.7500 micro\nlabel")) << text;

  std::string texts, labels;
  for (int i = 0; i < 60; ++i)
    texts += "A text of some length whose label is behind it, number " + std::to_string(i) + "\tgood\n",
        labels += "good\n";
  write("texts", texts), write("good", labels);
  const std::string foreign = "evaluate -m f1 -r " + file("texts") + " -i " + file("good");
  EXPECT_TRUE(contains(run_for_errors(foreign).output, "none of its labels, such as \"good\", is in the reference"));
  const std::string table = run_attend(foreign + " 2>/dev/null").output;
  EXPECT_TRUE(contains(table, "A text of some length whose label is be…") && contains(table, "and 11 more")) << table;
}

TEST_F(Evaluate, PerplexityReadsWhatScorePrints) {
  const nlohmann::json scores = json("-m perplexity,bits_per_byte -i " + file("scores"));
  EXPECT_NEAR(scores.at("perplexity").get<double>(), std::exp(2.), 1e-12);
  EXPECT_NEAR(scores.at("bits_per_byte").get<double>(), 6 / std::log(2.) / 8, 1e-12);
  EXPECT_EQ(scores.at("perplexity_details").at("tokens"), 3);
}

TEST_F(Evaluate, AFieldOfJsonLinesCanBeTheText) {
  write("json", "{\"translation\": \"The dog bit the man.\"}\n");
  write("one", "The dog bit the man.\n");
  EXPECT_NEAR(json("--field translation -r " + file("one") + " -i " + file("json")).at("bleu").get<double>(), 100,
              1e-9);
  const Outcome outcome = run_for_errors("evaluate --field text -r " + file("one") + " -i " + file("json"));
  EXPECT_EQ(outcome.code, 2);
  EXPECT_TRUE(contains(outcome.output, "line 1: has no text under \"text\"")) << outcome.output;
}

TEST_F(Evaluate, DifferentCountsOfLinesAreNamed) {
  write("two", "a\nb\n");
  const Outcome outcome = run_for_errors("evaluate -r " + file("two") + " -i " + file("hyp"));
  EXPECT_EQ(outcome.code, 2);
  EXPECT_TRUE(contains(outcome.output, "hyp has 3 lines, but")) << outcome.output;
  EXPECT_TRUE(contains(outcome.output, "two has 2")) << outcome.output;
}

TEST_F(Evaluate, WrongUsageIsExplained) {
  write("empty", "");
  const std::vector<std::pair<std::string, std::string>> cases = {
      {"-i " + file("hyp"), "--reference"},
      {"-m ter -r " + file("ref1") + " -i " + file("hyp"), "rouge"},
      {"-m perplexity,bleu -r " + file("ref1") + " -i " + file("hyp"), "read other files"},
      {"-m perplexity -r " + file("ref1") + " -i " + file("scores"), "--reference"},
      {"-m perplexity -i " + file("hyp"), "line 1: is no JSON object"},
      {"-m f1 --sentence -r " + file("gold") + " -i " + file("labels"), "--sentence"},
      {"-r " + file("nowhere") + " -i " + file("hyp"), "nowhere"},
      {"-r " + file("empty") + " -i " + file("empty"), "is empty"},
  };
  for (const auto& [arguments, message] : cases) {
    const Outcome outcome = run_for_errors("evaluate " + arguments);
    EXPECT_EQ(outcome.code, 2) << arguments;
    EXPECT_TRUE(contains(outcome.output, message)) << outcome.output;
  }
}

TEST_F(Evaluate, OddHypothesesAreCounted) {
  write("odd", "\n\xFF\nThe man had just bitten him.\n");
  const Outcome outcome = run_for_errors("evaluate -r " + file("ref1") + " -i " + file("odd"));
  EXPECT_EQ(outcome.code, 0);
  EXPECT_TRUE(contains(outcome.output, "1 of 3 lines are empty")) << outcome.output;
  EXPECT_TRUE(contains(outcome.output, "1 byte sequence could not be decoded and became U+FFFD, the first in " +
                                           file("odd") + ", line 2"))
      << outcome.output;
}

}  // namespace
}  // namespace attend
