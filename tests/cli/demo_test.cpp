// attend demo: only what needs no training; the training itself is that of `attend train translation`.
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
  const test::TempFolder folder;
  std::ofstream(folder / "model.safetensors") << "no model";
  const test::Outcome outcome = test::run_attend("demo --output " + (folder / "").string() + " 2>/dev/null");
  EXPECT_EQ(outcome.code, 2);
  EXPECT_TRUE(test::contains(outcome.output, "exists; --overwrite")) << outcome.output;
  EXPECT_FALSE(std::filesystem::exists(folder / "train.tsv"));
}

}  // namespace
}  // namespace attend
