// attend finetune classifier: what it takes from its files and from the folder it begins with.
#include <gtest/gtest.h>

#include <fstream>
#include <nlohmann/json.hpp>

#include "tests/support/run_program.h"
#include "tests/support/temp_folder.h"

namespace attend {
namespace {

using test::contains;
using test::contents;
using test::Outcome;
using test::run_for_errors;

class FinetuneClassifier : public testing::Test {
 protected:
  /// On what the train file holds, from a classifier of sport, weather and art (in this order).
  Outcome finetune(const std::string& train, const std::string& more = "") const {
    std::ofstream(folder_ / "train.tsv", std::ios::binary) << train;
    return run_for_errors(
        "finetune classifier --threads 1 --epochs 1 --overwrite --learning-rate 1e-9 --from " ATTEND_SOURCE_DIR
        "/tests/tasks/fixtures/bert_labels --train " +
        (folder_ / "train.tsv").string() + " --output " + (folder_ / "out").string() + " " + more);
  }
  test::TempFolder folder_;
};

TEST_F(FinetuneClassifier, GoesOnWithAHeadForTheSameLabels) {
  const Outcome same = finetune("a\tart\nb\t sport \n\nc\tweather\n");
  ASSERT_EQ(same.code, 0) << same.output;
  EXPECT_TRUE(contains(same.output, "3 texts") && contains(same.output, "3 labels (sport, weather, art)"))
      << same.output;
  EXPECT_FALSE(contains(same.output, "random weights")) << same.output;
  const auto config = nlohmann::json::parse(contents((folder_ / "out/config.json").string()));
  EXPECT_EQ(config["id2label"]["0"], "sport");

  const Outcome other = finetune("a\tart\nb\tsport\n");
  ASSERT_EQ(other.code, 0) << other.output;
  EXPECT_TRUE(contains(other.output, "is for other labels (sport, weather, art), and starts from random weights"))
      << other.output;
}

TEST_F(FinetuneClassifier, NamesTheLineThatHasNoLabel) {
  const std::string good = "a\tart\nb\tsport\n";
  for (const auto& [train, more, says] : std::vector<std::array<std::string, 3>>{
           {good + "\nhalf a line\nanother\n", "",
            "train.tsv, line 4: has only one column (no tab), expected text TAB label"},
           {good, "--label-column 3",
            "line 1: has only 2 columns, expected a text in column 1 and a label in column 3"},
           {good + "c\t \n", "", "line 3: has no label"},
           {good, "--label-column 1", "--label-column: 1 is the column of the text"},
           {good, "--label-column 0", "they count from 1"},
           {"a\tart\nb\tart\n", "", "all texts have the label \"art\""},
           {"\n\n", "", "holds no labelled text"}}) {
    const Outcome outcome = finetune(train, more);
    EXPECT_EQ(outcome.code, 2) << outcome.output;
    EXPECT_TRUE(contains(outcome.output, says)) << outcome.output;
  }
}

}  // namespace
}  // namespace attend
