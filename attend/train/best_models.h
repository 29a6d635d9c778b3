// Keeps the best models of a training run in files and computes the mean of their parameters. This mean is often better
// than each of the models (Vaswani et al. 2017, section 6.1, average the last checkpoints).
#pragma once
#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "attend/formats/safetensors.h"
#include "attend/train/scores.h"

namespace attend {

class BestModels {
 public:
  struct Entry {
    std::int64_t step = 0;
    Scores scores;
  };

  /// Keeps at most `count` models in `folder`, which exists only while it holds files; 0: keeps none. `metric` decides
  /// which model is better: see better().
  BestModels(std::filesystem::path folder, std::int64_t count, std::string metric);

  /// Writes the parameters to a file if they are among the best. The file of a model that is no longer among them stays
  /// until tidy(), since the last checkpoint may refer to it.
  void offer(std::int64_t step, const Scores& scores, const std::vector<NamedTensor>& parameters);
  /// Removes all files except those of entries(), to which a checkpoint now refers.
  void tidy();
  /// Called before a checkpoint is written: if that fails, it may still be in place.
  void expect_checkpoint() { in_checkpoint_.insert(in_checkpoint_.end(), entries_.begin(), entries_.end()); }
  /// Removes all files to which no checkpoint refers: all but those of the last tidy() or restore(), and of
  /// expect_checkpoint() since then. Does not throw.
  void tidy_to_checkpoint() noexcept;

  const std::vector<Entry>& entries() const { return entries_; }  ///< the best first
  /// Restores the entries of a checkpoint. Throws InputError if a file is missing.
  void restore(std::vector<Entry> entries);
  void clear() { entries_.clear(); }

  /// The mean of the parameters over all entries, as new tensors with the given names and shapes. Throws InputError if
  /// a file has another shape.
  std::vector<NamedTensor> mean(const std::vector<NamedTensor>& parameters) const;

 private:
  std::filesystem::path file(std::int64_t step) const;
  void keep_only(const std::vector<Entry>& entries) const;

  std::filesystem::path folder_;
  std::size_t count_;
  std::string metric_;
  std::vector<Entry> entries_, in_checkpoint_;
};

}  // namespace attend
