// A model's file that changes while the program uses it.
#include <gtest/gtest.h>

#include <filesystem>

#include "tests/support/run_program.h"
#include "tests/support/temp_folder.h"

namespace attend::test {
namespace {

namespace fs = std::filesystem;

/// Starts a translation, runs `change` in the model's folder once the model is loaded, and then gives the program a
/// line. Returns its code, and what it wrote to both streams.
Outcome translate_while(const std::string& change) {
  const TempFolder folder;
  fs::copy(fs::path(ATTEND_SOURCE_DIR) / "tests/models/fixtures/marian_tokenizer", folder / "model");
  for (const auto& entry : fs::directory_iterator(folder / "model"))
    fs::permissions(entry, fs::perms::owner_write, fs::perm_options::add);
  return run_shell(
      "cd " + folder.path().string() +
      " && mkfifo lines && { " ATTEND_PROGRAM
      " translate --model model < lines 2>&1 & } && exec 3> lines && "
      "for i in $(seq 600); do grep -q model.safetensors /proc/$!/maps && break; sleep 0.05; done; sleep 1; "
      "cd model && " +
      change + " && echo a >&3 && exec 3>&- ; wait $!");
}

TEST(ChangedFile, TruncatedInPlaceIsAnErrorThatNamesTheFile) {
  const Outcome outcome = translate_while(": > model.safetensors");
  EXPECT_EQ(outcome.code, 1);
  EXPECT_EQ(outcome.output, "attend: [load] model/model.safetensors: was changed while it was in use; start again\n");
}

TEST(ChangedFile, OverwrittenInPlaceIsAnErrorThatNamesTheFile) {
  const Outcome outcome = translate_while("cp model.safetensors copy && cat copy > model.safetensors");
  EXPECT_EQ(outcome.code, 1);
  EXPECT_TRUE(contains(outcome.output, "was changed while it was in use")) << outcome.output;
}

}  // namespace
}  // namespace attend::test
