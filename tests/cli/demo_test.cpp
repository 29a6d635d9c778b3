// attend demo: only what needs no training; the training itself is that of `attend train translation` and `summary`.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <string>

#include "tests/support/run_program.h"
#include "tests/support/temp_folder.h"

namespace attend {
namespace {

TEST(Demo, SaysWhatItDoes) {
  const test::Outcome outcome = test::run_attend("demo --help");
  EXPECT_EQ(outcome.code, 0);
  EXPECT_TRUE(test::contains(outcome.output, "--overwrite")) << outcome.output;
}

TEST(Demo, LooksAtAModelThatIsThereInsteadOfTrainingAnother) {
  for (const auto& [task, model] :
       {std::pair("translation", "The translator in "), {"summary", "The summarizer in "}}) {
    const test::TempFolder folder;
    std::ofstream(folder / "model.safetensors") << "no model";
    const std::string command = std::string("demo --task ") + task + " --output " + (folder / "").string();
    const test::Outcome outcome = test::run_attend(command + " 2>/dev/null");
    EXPECT_EQ(outcome.code, 2) << task;
    EXPECT_TRUE(test::contains(outcome.output, model)) << outcome.output;
    EXPECT_TRUE(test::contains(outcome.output, "exists; --overwrite")) << outcome.output;
    EXPECT_FALSE(std::filesystem::exists(folder / "train.tsv")) << task;
  }
}

}  // namespace
}  // namespace attend
