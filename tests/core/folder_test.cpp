#include "attend/core/folder.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <fstream>
#include <set>

#include "attend/core/file.h"
#include "tests/support/errors.h"
#include "tests/support/temp_folder.h"

namespace attend {
namespace {

namespace fs = std::filesystem;
using test::contents;

void write(const fs::path& path, const std::string& text) {
  fs::create_directories(path.parent_path());
  std::ofstream(path) << text;
}

std::set<std::string> names_in(const fs::path& folder) {
  std::set<std::string> names;
  for (const auto& entry : fs::directory_iterator(folder)) names.insert(entry.path().filename());
  return names;
}

/// A folder with an old model, a file of the user's and one of a training run.
struct ModelFolders : testing::Test {
  ModelFolders() {
    for (const char* name : {"config.json", "model.safetensors", "tokenizer.json", "tokenizer_config.json"})
      write(folder / name, "old");
    write(folder / "notes.txt", "mine"), write(folder / "curve.csv", "run");
  }
  static void write_new(const fs::path& stage) {
    for (const char* name : {"config.json", "model.safetensors", "source.spm", "tokenizer_config.json"})
      write(stage / name, "new");
  }
  void expect_old() const {
    for (const char* name : {"config.json", "model.safetensors", "tokenizer.json", "tokenizer_config.json"})
      EXPECT_EQ(contents(folder / name), "old") << name;
  }
  void expect_new() const {
    EXPECT_EQ(current_folder(folder.path()), folder.path());
    EXPECT_EQ(names_in(folder.path()), (std::set<std::string>{"config.json", "model.safetensors", "source.spm",
                                                              "tokenizer_config.json", "notes.txt", "curve.csv"}));
    for (const char* name : {"config.json", "model.safetensors", "source.spm", "tokenizer_config.json"})
      EXPECT_EQ(contents(folder / name), "new") << name;
    EXPECT_EQ(contents(folder / "notes.txt"), "mine");
  }
  test::TempFolder folder;
};
using FolderUpdates = ModelFolders;

TEST_F(FolderUpdates, ReplaceTheFilesOfTheOldModelAndKeepAllOthers) {
  FolderUpdate update(folder.path());
  write_new(update.stage());
  expect_old();
  update.commit();
  expect_new();
}

TEST_F(FolderUpdates, RemoveOldWeightsOfAnyFormButNotTheCopiesOfTheUser) {
  for (const char* name : {"pytorch_model.bin", "model-00001-of-00002.safetensors", "model.safetensors.index.json",
                           "sentence_bert_config.json"})
    write(folder / name, "old");
  const std::set<std::string> copies = {"model-before.safetensors", "pytorch_model.bin.bak", "pytorch_model"};
  write(folder / "model-before.safetensors", "mine"), write(folder / "pytorch_model.bin.bak", "mine");
  write(folder / "pytorch_model/file", "mine");
  FolderUpdate update(folder.path());
  write_new(update.stage());
  update.commit();
  for (const std::string& name : copies) EXPECT_TRUE(fs::exists(folder / name)) << name;
  for (const std::string& name : copies) fs::remove_all(folder / name);
  expect_new();
}

TEST_F(FolderUpdates, LeaveTheFolderAsItWasWithoutCommit) {
  {
    const FolderUpdate update(folder.path());
    write_new(update.stage());
  }
  expect_old();
  EXPECT_EQ(names_in(folder.path()).size(), 6u);
}

TEST_F(FolderUpdates, ACommittedModelIsReadAndMovedIntoPlaceLater) {
  write_new(folder / ".attend-update");
  fs::remove(folder / "config.json");  // where it was killed
  EXPECT_EQ(current_folder(folder.path()), folder / ".attend-update");
  finish_update(folder.path());
  expect_new();
  finish_update(folder.path());
  expect_new();
}

TEST_F(FolderUpdates, AMoveThatWasInterruptedAnywhereIsCompleted) {
  const fs::path ready = folder / ".attend-update";
  write_new(ready);
  fs::remove(folder / "config.json"), fs::remove(folder / "tokenizer_config.json");
  fs::remove(folder / "model.safetensors");
  fs::create_hard_link(ready / "model.safetensors", folder / "model.safetensors");
  finish_update(folder.path());
  expect_new();
}

TEST_F(FolderUpdates, AFolderThatCannotBeCompletedKeepsTheNewModelReadable) {
  fs::create_directories(folder / "source.spm/in the way");
  const std::string message = test::error_of([&] {
    FolderUpdate update(folder.path());
    write_new(update.stage());
    update.commit();
  });
  EXPECT_NE(message.find("cannot move the new files to their places"), std::string::npos) << message;
  EXPECT_EQ(contents(current_folder(folder.path()) / "model.safetensors"), "new");
  EXPECT_FALSE(fs::exists(folder / "config.json")) << "other programs must not load a mixture";
  fs::remove_all(folder / "source.spm");
  finish_update(folder.path());
  expect_new();
}

TEST_F(FolderUpdates, ATokenizerReplacesOnlyATokenizer) {
  fs::remove(folder / "config.json");
  FolderUpdate update(folder.path());
  write(update.stage() / "vocab.txt", "new"), write(update.stage() / "tokenizer_config.json", "new");
  update.commit();
  EXPECT_FALSE(fs::exists(folder / "tokenizer.json"));
  EXPECT_EQ(contents(folder / "vocab.txt"), "new");
  EXPECT_EQ(contents(folder / "model.safetensors"), "old");
}

TEST_F(FolderUpdates, ReplaceFoldersInsideAModel) {
  write(folder / "1_Pooling/config.json", "old"), write(folder / "1_Pooling/notes.txt", "mine");
  FolderUpdate update(folder.path());
  write_new(update.stage());
  write(update.stage() / "1_Pooling/config.json", "new");
  update.commit();
  EXPECT_EQ(contents(folder / "1_Pooling/config.json"), "new");
  EXPECT_EQ(contents(folder / "1_Pooling/notes.txt"), "mine");
}

TEST(FolderLock, KeepsASecondWriterOutAndNamesTheProcess) {
  const test::TempFolder folder;
  const FolderLock lock(folder.path());
  EXPECT_ERROR(FolderLock(folder.path()), "another process (" + std::to_string(::getpid()) + ") is writing to this");
}

TEST(FolderLock, IsReleasedWhenTheProcessIsKilled) {
  const test::TempFolder folder;
  const pid_t child = ::fork();
  if (child == 0) {
    const FolderLock lock(folder.path());
    ::kill(::getpid(), SIGKILL);
  }
  ::waitpid(child, nullptr, 0);
  EXPECT_NO_THROW(FolderLock(folder.path()));
}

TEST(FolderLock, CreatesTheFolderAndRemovesItIfItStaysEmpty) {
  const test::TempFolder folder;
  { const FolderLock lock(folder / "a/b"); }
  EXPECT_FALSE(fs::exists(folder / "a"));
  {
    const FolderLock lock(folder / "a/b");
    write(folder / "a/b/x", "");
  }
  EXPECT_TRUE(fs::exists(folder / "a/b/x"));
}

TEST(Temporaries, OfDeadProcessesAndOfThisOneAreRemoved) {
  const test::TempFolder folder;
  const pid_t child = ::fork();
  if (child == 0) ::_exit(0);
  ::waitpid(child, nullptr, 0);
  write(folder / ("x.part-" + std::to_string(child) + "-0"), "");
  write(folder / (".attend-update.part-" + std::to_string(child) + "-1/config.json"), "");
  write(folder / ("y.part-" + std::to_string(::getpid()) + "-99"), "");  // in a container, ids repeat
  const std::set<std::string> others = {"z.part-" + std::to_string(::getppid()) + "-0",
                                        "news.part-" + std::to_string(child) + "-11.txt"};  // a file of the user
  for (const std::string& name : others) write(folder / name, "");
  remove_unfinished(folder.path());
  EXPECT_EQ(names_in(folder.path()), others);
}

TEST(Temporaries, HaveNamesThatAreNotTaken) {
  const test::TempFolder folder;
  const std::string first = unused_temporary(folder / "x").string();
  const int number = std::stoi(first.substr(first.rfind('-') + 1));
  const auto name = [&](int n) { return first.substr(0, first.rfind('-') + 1) + std::to_string(n); };
  write(name(number + 1), "of a killed process with the same id");
  EXPECT_EQ(unused_temporary(folder / "x"), name(number + 2));
}

}  // namespace
}  // namespace attend
