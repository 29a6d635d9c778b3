// The output folder of a training run, locked for its duration.
#pragma once
#include <filesystem>

#include "attend/core/folder.h"

namespace attend {

class RunFolder {
 public:
  /// Locks the folder, completes an update that was interrupted (see FolderUpdate), and removes temporary files of
  /// processes that were killed. Throws InputError if another process writes to the folder.
  explicit RunFolder(std::filesystem::path folder);
  ~RunFolder();  ///< restores the old checkpoint if the new run has not started
  RunFolder(const RunFolder&) = delete;
  RunFolder& operator=(const RunFolder&) = delete;

  std::filesystem::path checkpoint() const { return folder_ / "checkpoint.safetensors"; }
  /// Begins a new run: --resume no longer finds the checkpoint of an old run. That checkpoint is renamed to
  /// checkpoint.replaced.safetensors, until the new run has one.
  void begin();
  /// The data are prepared, and training starts: the old checkpoint is no longer restored.
  void start() { set_aside_ = false; }
  /// Removes the renamed checkpoint. Called when the new run has written its first one.
  void forget_replaced() const;

 private:
  std::filesystem::path folder_;
  FolderLock lock_;
  bool set_aside_ = false;  // begin() has renamed a checkpoint
};

}  // namespace attend
