#include "attend/train/run.h"

#include <gtest/gtest.h>

#include <fstream>

#include "tests/support/errors.h"
#include "tests/support/temp_folder.h"

namespace attend {
namespace {

struct Columns {
  std::string text = "1";
  void visit(auto&& v) const { v("text", text); }
};
enum class Kind : std::uint8_t { one, other };
struct Options {
  std::int64_t batch = 4;
  float smoothing = 0.1f;
  bool lowercase = true;
  Kind kind = Kind::one;
  std::vector<std::int32_t> ids = {1, 2};
  Columns columns = {};
  TrainerOptions trainer = {};
  void visit(auto&& v) const {
    v("batch", batch), v("smoothing", smoothing), v("lowercase", lowercase), v("kind", kind), v("ids", ids);
    v("columns", columns), v("trainer", trainer);
  }
};

TEST(RunFingerprint, ChangesWithEveryVisitedOption) {
  const std::string before = run_fingerprint(Options(), {});
  EXPECT_EQ(run_fingerprint(Options(), {}), before);
  std::set<std::string> all = {before};
  const auto differs = [&](auto&& change) {
    Options options;
    change(options);
    return all.insert(run_fingerprint(options, {})).second;
  };
  EXPECT_TRUE(differs([](Options& o) { o.batch = 5; }));
  EXPECT_TRUE(differs([](Options& o) { o.smoothing = 0.2f; }));
  EXPECT_TRUE(differs([](Options& o) { o.lowercase = false; }));
  EXPECT_TRUE(differs([](Options& o) { o.kind = Kind::other; }));
  EXPECT_TRUE(differs([](Options& o) { o.ids = {1}; }));
  EXPECT_TRUE(differs([](Options& o) { o.columns.text = "2"; }));
  EXPECT_TRUE(differs([](Options& o) { o.trainer.seed = 9; }));
  EXPECT_TRUE(differs([](Options& o) { o.trainer.accumulate = 2; }));
  // These options are not visited, since they may change when a run is resumed.
  EXPECT_FALSE(differs([](Options& o) {
    o.trainer.epochs = 99, o.trainer.steps = 9, o.trainer.learning_rate = 1, o.trainer.warmup = 3;
    o.trainer.schedule = Schedule::Kind::linear, o.trainer.floor = 0.1, o.trainer.weight_decay = 0.5f;
    o.trainer.clip = 9, o.trainer.evaluate_every = 7, o.trainer.patience = 8, o.trainer.metric = "f1";
    o.trainer.log_every = 1, o.trainer.checkpoint_seconds = 1;
  }));
}

TEST(RunFingerprint, ChangesWithTheContentsOfItsInputs) {
  const test::TempFolder folder;
  const auto write = [&](const char* name, const char* text) { std::ofstream(folder / name) << text; };
  write("data", "a"), write("copy", "a"), write("config.json", "{}"), write("model.safetensors", "weights");
  write("checkpoint.safetensors", "run");
  const RunInputs inputs{.model = "{}", .tokenizer = 1, .files = {folder / "data", ""}, .from = folder.path()};
  const auto fingerprint = [&](const RunInputs& changed) { return run_fingerprint(Options(), changed); };
  const std::string before = fingerprint(inputs);
  RunInputs same = inputs;
  same.files = {folder / "copy"};
  EXPECT_EQ(fingerprint(same), before) << "only the contents count, not the name";
  write("checkpoint.safetensors", "later");
  EXPECT_EQ(fingerprint(inputs), before);
  RunInputs other = inputs;
  other.model = "{1}";
  EXPECT_NE(fingerprint(other), before);
  other = inputs, other.tokenizer = 2;
  EXPECT_NE(fingerprint(other), before);
  other = inputs, other.from = "";
  EXPECT_NE(fingerprint(other), before);
  write("model.safetensors", "others");
  EXPECT_NE(fingerprint(inputs), before);
  write("model.safetensors", "weights"), write("data", "b");
  EXPECT_NE(fingerprint(inputs), before);
}

TEST(CheckRun, FindsMissingFilesAndFoldersThatWouldBeOverwritten) {
  const test::TempFolder folder;
  std::filesystem::create_directories(folder / "model");
  std::ofstream(folder / "model/model.safetensors") << "weights";
  std::ofstream(folder / "data") << "text";
  TrainerOptions options;
  EXPECT_ERROR(check_run(options, "", {}), "the output folder is missing");
  options.output = folder / "new";
  check_run(options, "", {folder / "data", ""});
  EXPECT_FALSE(std::filesystem::exists(folder / "new"));
  EXPECT_ERROR(check_run(options, "", {folder / "missing"}), "there is no such file");
  EXPECT_ERROR(check_run(options, "", {folder / "model"}), "is a folder");
  EXPECT_ERROR(check_run(options, "", {"-"}), "reads its data more than once");
  options.output = folder / "data/inside";
  EXPECT_ERROR(check_run(options, "", {}), "cannot create this folder");
  std::filesystem::create_directories(folder / "downloaded");
  std::ofstream(folder / "downloaded/pytorch_model.bin") << "weights";
  options.output = folder / "downloaded";
  EXPECT_ERROR(check_run(options, "", {}), "holds a model");
  options.output = folder / "model";
  EXPECT_ERROR(check_run(options, "", {}), "holds a model");
  EXPECT_ERROR(check_run(options, folder / "model", {}), "is both --from and --output");
  options.overwrite = true;
  std::ofstream(folder / "model/checkpoint.safetensors") << "run";
  EXPECT_ERROR(check_run(options, "", {folder / "missing"}), "there is no such file");
  EXPECT_TRUE(std::filesystem::exists(folder / "model/checkpoint.safetensors"));
  auto locked = check_run(options, "", {});
  EXPECT_FALSE(std::filesystem::exists(folder / "model/checkpoint.safetensors")) << "--resume would continue it";
  EXPECT_ERROR(check_run(options, "", {}), "is writing to this folder");
  locked.reset();
  EXPECT_TRUE(std::filesystem::exists(folder / "model/checkpoint.safetensors")) << "the new run has not started";
  locked = check_run(options, "", {});
  locked->start();
  locked.reset();
  EXPECT_FALSE(std::filesystem::exists(folder / "model/checkpoint.safetensors"));
}

TEST(CheckRun, WarnsOfInvalidUtf8InAnyFile) {
  const test::TempFolder folder;
  std::ofstream(folder / "good") << "text\n";
  std::ofstream(folder / "bad") << "text\nperch\xE9\n\xFF\n";
  TrainerOptions options;
  options.output = folder / "new";
  std::vector<std::string> warnings;
  TrainingObserver observer;
  observer.warning = [&](const std::string& line) { warnings.push_back(line); };
  check_run(options, "", {folder / "good"}, observer);
  EXPECT_TRUE(warnings.empty());
  check_run(options, "", {folder / "good", folder / "bad"}, observer);
  ASSERT_EQ(warnings.size(), 1u);
  EXPECT_EQ(warnings[0], "2 byte sequences could not be decoded and became U+FFFD, the first in " +
                             (folder / "bad").string() + ", line 2; is the text UTF-8?");
}

}  // namespace
}  // namespace attend
