#include "attend/core/folder.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cinttypes>
#include <cstdio>
#include <fstream>
#include <set>
#include <string>

#include "attend/core/error.h"
#include "attend/core/file.h"

namespace attend {
namespace {

namespace fs = std::filesystem;

constexpr const char* kReady = ".attend-update";      // a complete new model
constexpr const char* kDone = ".attend-update.done";  // it is in place, and this folder is being removed

[[noreturn]] void give_up(const fs::path& path, const char* doing, const std::error_code& problem) {
  fail("save", path.string(), ": cannot ", doing, ": ", problem.message());
}

/// The process that holds a lock on an open file, or 0 if it is not known.
int holder_of(int file) {
  struct stat status {};
  if (::fstat(file, &status) != 0) return 0;
  std::ifstream locks("/proc/locks");
  for (std::string line; std::getline(locks, line);) {
    int process = 0;
    unsigned major_number = 0, minor_number = 0;
    std::uintmax_t inode = 0;
    if (std::sscanf(line.c_str(), "%*d: FLOCK %*s %*s %d %x:%x:%" SCNuMAX, &process, &major_number, &minor_number,
                    &inode) == 4 &&
        inode == status.st_ino && makedev(major_number, minor_number) == status.st_dev)
      return std::max(process, 0);
  }
  return 0;
}

/// The files that come last: without them, other programs do not load the folder.
bool is_head(const fs::path& file) {
  return file.filename() == "config.json" || file.filename() == "tokenizer_config.json";
}

bool is_tokenizer_file(const std::string& name) {
  static const std::set<std::string> names = {"tokenizer.json",
                                              "tokenizer_config.json",
                                              "special_tokens_map.json",
                                              "added_tokens.json",
                                              "vocab.txt",
                                              "vocab.json",
                                              "merges.txt",
                                              "source.spm",
                                              "target.spm",
                                              "spiece.model",
                                              "sentencepiece.bpe.model"};
  return names.contains(name);
}

/// "model.safetensors", its index, or a shard such as "model-00001-of-00002.safetensors". Other names are the user's.
bool is_weights_file(const std::string& name, const std::string& stem, const std::string& ending) {
  return name == stem + ending || name == stem + ending + ".index.json" ||
         (name.starts_with(stem + "-") && name.find("-of-") != name.npos && name.ends_with(ending));
}

bool is_model_file(const std::string& name) {
  return is_weights_file(name, "model", ".safetensors") || is_weights_file(name, "pytorch_model", ".bin") ||
         is_weights_file(name, "adapter_model", ".safetensors") || name == "adapter_config.json" ||
         is_tokenizer_file(name) || name == "config.json" || name == "generation_config.json" ||
         name == "modules.json" || name == "chat_template.jinja" || name == "config_sentence_transformers.json" ||
         (name.starts_with("sentence_") && name.ends_with("_config.json"));
}

/// The files of a folder and of the folders in it, relative to it, and all these folders.
struct Tree {
  std::vector<fs::path> files, folders = {"."};
};
Tree tree_of(const fs::path& folder) {
  Tree tree;
  for (const fs::directory_entry& entry : fs::recursive_directory_iterator(folder))
    (entry.is_directory() ? tree.folders : tree.files).push_back(entry.path().lexically_relative(folder));
  std::ranges::sort(tree.files), std::ranges::sort(tree.folders);
  return tree;
}

void sync_all(const fs::path& folder, const std::vector<fs::path>& paths) {
  for (const fs::path& path : paths) sync_path(folder / path);
}

/// Removes the files of an old model that the new one does not have.
void remove_stale(const fs::path& folder, const fs::path& fresh) {
  const bool is_model = fs::exists(fresh / "config.json");
  if (!is_model && !fs::exists(fresh / "tokenizer_config.json")) return;
  std::vector<fs::path> stale;
  for (const fs::directory_entry& entry : fs::directory_iterator(folder)) {
    const std::string name = entry.path().filename();
    if (!entry.is_directory() && (is_model ? is_model_file(name) : is_tokenizer_file(name)) &&
        !fs::exists(fresh / name))
      stale.push_back(entry.path());
  }
  for (const fs::path& path : stale) fs::remove(path);
}

/// Gives a file a second name, atomically; copies it where the file system has no hard links.
void place(const fs::path& file, const fs::path& target) {
  std::error_code problem;
  if (fs::equivalent(file, target, problem)) return;  // an interrupted update has done it
  const fs::path temporary = unused_temporary(target);
  fs::create_hard_link(file, temporary, problem);
  if (problem) {
    fs::copy_file(file, temporary);
    sync_path(temporary);
  }
  fs::rename(temporary, target, problem);
  if (!problem) return;
  std::error_code ignored;
  fs::remove(temporary, ignored);
  throw fs::filesystem_error("rename", target, problem);
}

void move_into_place(const fs::path& folder, const fs::path& ready) {
  const Tree tree = tree_of(ready);
  for (const fs::path& file : tree.files)
    if (is_head(file)) fs::remove(folder / file);
  for (const fs::path& inner : tree.folders) {
    fs::create_directories(folder / inner);
    sync_path(folder / inner);
    remove_stale(folder / inner, ready / inner);
  }
  for (const bool heads : {false, true}) {
    for (const fs::path& file : tree.files)
      if (is_head(file) == heads) place(ready / file, folder / file);
    sync_all(folder, tree.folders);
  }
  fs::rename(ready, folder / kDone);
  sync_path(folder);
}

}  // namespace

FolderLock::FolderLock(const fs::path& folder) {
  std::error_code problem;
  for (fs::path at = fs::absolute(folder); !fs::exists(at, problem) && at.has_relative_path(); at = at.parent_path())
    created_.push_back(at);
  const auto remove_created = [&] {
    for (const fs::path& path : created_) ::rmdir(path.c_str());
  };
  fs::create_directories(folder, problem);
  if (!problem) {
    file_ = ::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (file_ < 0) problem.assign(errno, std::generic_category());
  }
  if (problem) {
    remove_created();
    fail("output", folder.string(), ": cannot open this folder: ", problem.message());
  }
  if (::flock(file_, LOCK_EX | LOCK_NB) == 0 || errno != EWOULDBLOCK) {
    try {
      finish_update(folder);
    } catch (const Error&) {
      ::close(file_);
      throw;
    }
    remove_unfinished(folder);
    return;
  }
  const int process = holder_of(file_);
  ::close(file_);
  remove_created();
  fail<InputError>("output", folder.string(), ": another process",
                   process > 0 ? " (" + std::to_string(process) + ")" : "",
                   " is writing to this folder; wait for it, or choose another folder");
}

FolderLock::~FolderLock() {
  ::close(file_);
  for (const fs::path& path : created_) ::rmdir(path.c_str());  // fails unless it is empty
}

FolderUpdate::FolderUpdate(fs::path folder) : folder_(std::move(folder)) {
  std::error_code problem;
  fs::create_directories(folder_, problem);
  if (problem) give_up(folder_, "create this folder", problem);
  finish_update(folder_);
  const fs::path stage = unused_temporary(folder_ / kReady);
  fs::create_directory(stage, problem);
  if (problem) give_up(stage, "create this folder", problem);
  stage_ = stage;
}

FolderUpdate::~FolderUpdate() {
  std::error_code ignored;
  if (!stage_.empty()) fs::remove_all(stage_, ignored);
}

void FolderUpdate::commit() {
  const Tree tree = tree_of(stage_);
  sync_all(stage_, tree.files), sync_all(stage_, tree.folders);
  if (::rename(stage_.c_str(), (folder_ / kReady).c_str()) != 0)
    fail("save", folder_.string(), ": cannot rename the new model: ", system_error_text());
  stage_.clear();
  sync_path(folder_);
  finish_update(folder_);
}

void finish_update(const fs::path& folder) {
  std::error_code ignored;
  fs::remove_all(folder / kDone, ignored);
  const fs::path ready = folder / kReady;
  if (!fs::exists(ready, ignored)) return;
  const auto give_up = [&](const std::string& why) {
    fail("save", folder.string(), ": cannot move the new files to their places: ", why, "; they are complete in ",
         ready.string(), ", where Attend finds them, and the next run into this folder moves them");
  };
  try {
    move_into_place(folder, ready);
  } catch (const fs::filesystem_error& error) {
    give_up(error.code().message());
  } catch (const Error& error) {
    give_up(error.what());
  }
  fs::remove_all(folder / kDone, ignored);
}

fs::path current_folder(const fs::path& folder) {
  std::error_code ignored;
  fs::path ready = folder / kReady;
  return fs::is_directory(ready, ignored) ? ready : folder;
}

bool is_update(const fs::path& name) { return name.string().starts_with(kReady); }

}  // namespace attend
