#include "attend/train/run_folder.h"

#include "attend/core/error.h"
#include "attend/core/file.h"

namespace attend {
namespace {

namespace fs = std::filesystem;

fs::path replaced_in(const fs::path& folder) { return folder / "checkpoint.replaced.safetensors"; }

}  // namespace

RunFolder::RunFolder(fs::path folder) : folder_(std::move(folder)), lock_(folder_) {}

RunFolder::~RunFolder() {
  std::error_code ignored;
  if (set_aside_) fs::rename(replaced_in(folder_), checkpoint(), ignored);
}

void RunFolder::begin() {
  std::error_code problem;
  if (!fs::exists(checkpoint(), problem)) return;
  fs::rename(checkpoint(), replaced_in(folder_), problem);
  if (problem) fail("output", checkpoint().string(), ": cannot rename the old checkpoint: ", problem.message());
  set_aside_ = true;
  sync_path(folder_);
}

void RunFolder::forget_replaced() const {
  std::error_code ignored;  // the next checkpoint tries again
  fs::remove(replaced_in(folder_), ignored);
}

}  // namespace attend
