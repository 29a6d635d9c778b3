// A served model whose files change on disk.
#include <csignal>

#include "attend/core/file.h"
#include "tests/serve/serving.h"
#include "tests/support/temp_folder.h"

namespace attend::test {
namespace {

namespace fs = std::filesystem;

/// A server of copies of two models, with the program's handler of SIGBUS.
class ChangedFiles : public testing::Test {
 protected:
  ChangedFiles() {
    struct sigaction action {};
    action.sa_flags = SA_SIGINFO;
    action.sa_sigaction = [](int, siginfo_t* info, void*) {
      if (!replace_lost_pages(info->si_addr)) ::signal(SIGBUS, SIG_DFL);
    };
    ::sigaction(SIGBUS, &action, &before_);
    fs::copy(kGpt2, folder_ / "gpt2"), fs::copy(kSentences, folder_ / "sentences", fs::copy_options::recursive);
    for (const auto& entry : fs::recursive_directory_iterator(folder_.path()))
      fs::permissions(entry, fs::perms::owner_write, fs::perm_options::add);
    ServerOptions options;
    options.models = {{"gpt2", folder_ / "gpt2"}, {"sentences", folder_ / "sentences"}};
    options.port = 0, options.connections = 16;
    server_.emplace(options);
  }
  ~ChangedFiles() override {
    server_.reset();
    ::sigaction(SIGBUS, &before_, nullptr);
  }

  Serving::Answer complete() const {
    return server_->post("/v1/completions", {{"model", "gpt2"}, {"prompt", "The"}, {"max_tokens", 3}});
  }
  Serving::Answer embed() const { return server_->post("/v1/embeddings", {{"model", "sentences"}, {"input", "a"}}); }
  void expect_only_sentences() const {
    const auto refused = complete();
    EXPECT_EQ(refused.status, 503) << refused.body;
    EXPECT_EQ(refused.json["error"]["code"], "model_changed");
    EXPECT_NE(server_->get("/ready").body.find("model_changed"), std::string::npos);
    EXPECT_EQ(server_->get("/health").status, 200);
    EXPECT_EQ(embed().status, 200);
  }

  TempFolder folder_;
  std::optional<Serving> server_;
  struct sigaction before_ {};
};

TEST_F(ChangedFiles, AModelWhoseFileIsTruncatedAnswersNoMoreAndTheServerLives) {
  EXPECT_EQ(complete().status, 200);
  fs::resize_file(folder_ / "gpt2/model.safetensors", 10);
  const auto first = complete();
  EXPECT_NE(first.body.find("model.safetensors: was changed while it was in use; start again"), std::string::npos)
      << first.body;
  expect_only_sentences();
}

TEST_F(ChangedFiles, AModelWhoseFileIsOverwrittenInPlaceAnswersNoMore) {
  EXPECT_EQ(embed().status, 200);
  std::this_thread::sleep_for(std::chrono::milliseconds(50));  // file systems count time in steps
  {
    std::fstream file(folder_ / "gpt2/model.safetensors", std::ios::in | std::ios::out | std::ios::binary);
    file.seekp(-4, std::ios::end);
    file << "abcd";
  }
  expect_only_sentences();
}

TEST_F(ChangedFiles, AModelWhoseFileIsReplacedByARenameKeepsAnswering) {
  const auto before = complete();
  AtomicFile file(folder_ / "gpt2/model.safetensors");
  file.write("something else");
  file.commit();
  EXPECT_EQ(complete().json["choices"], before.json["choices"]);
  EXPECT_EQ(server_->get("/ready").status, 200);
}

}  // namespace
}  // namespace attend::test
