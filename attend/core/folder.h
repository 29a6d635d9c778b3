// Folders that hold a model. A lock keeps a second writer out, and an update replaces all files of a model together, so
// that a crash at any time leaves the old model or the new one, and never parts of both.
#pragma once
#include <filesystem>
#include <vector>

namespace attend {

/// Locks a folder for writing, as long as it lives, and completes or removes what killed processes have left in it. The
/// system releases the lock when the process ends, however it ends. File systems without locks are not locked.
class FolderLock {
 public:
  /// Creates the folder if needed. Throws InputError [output] if another process holds the lock, and names that process
  /// if it is known; Error [output] if the folder cannot be created or opened.
  explicit FolderLock(const std::filesystem::path& folder);
  /// Removes the folders that the constructor has created if they are empty.
  ~FolderLock();
  FolderLock(const FolderLock&) = delete;
  FolderLock& operator=(const FolderLock&) = delete;

 private:
  std::vector<std::filesystem::path> created_;  // innermost first
  int file_ = -1;
};

/// Replaces the files of a model, or of a tokenizer, as a whole:
///
///     FolderUpdate update(folder);
///     … write all files to update.stage() …
///     update.commit();
///
/// The stage is a hidden folder inside `folder`. commit() syncs it and renames it to .attend-update: from then on the
/// new model counts, and current_folder() returns it. Then finish_update() moves its files to their places. Files of an
/// old model that the new one does not have are removed; all other files of the folder stay. The folder should be
/// locked. All functions throw Error [save].
class FolderUpdate {
 public:
  explicit FolderUpdate(std::filesystem::path folder);
  ~FolderUpdate();  ///< without a commit(), removes the stage; the folder is unchanged
  FolderUpdate(const FolderUpdate&) = delete;
  FolderUpdate& operator=(const FolderUpdate&) = delete;

  const std::filesystem::path& stage() const { return stage_; }
  void commit();

 private:
  std::filesystem::path folder_, stage_;
};

/// Completes an update that was interrupted after its commit. Meanwhile config.json and tokenizer_config.json do not
/// exist, so that programs which do not know about updates refuse the folder.
void finish_update(const std::filesystem::path& folder);

/// The folder to read a model from: `folder` itself, or the new model inside it while an update is not finished.
std::filesystem::path current_folder(const std::filesystem::path& folder);

/// Whether a file or folder of this name belongs to an update.
bool is_update(const std::filesystem::path& name);

}  // namespace attend
