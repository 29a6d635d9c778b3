// The best models of a run so far, each a file, so that the mean of their parameters can be tried at the end: models
// near the end of one run lie in one valley, and their mean is often better than each of them (Vaswani et al. 2017,
// section 6.1, averaged the last ones).
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

  /// Keeps `count` of them (0: none) in `folder`, which exists only while there are any. `metric` decides: see
  /// better().
  BestModels(std::filesystem::path folder, std::int64_t count, std::string metric);

  /// Writes the parameters to a file if they are among the best. Files of those that fell out stay until tidy(), since
  /// a checkpoint may still name them.
  void offer(std::int64_t step, const Scores& scores, const std::vector<NamedTensor>& parameters);
  /// Removes all files but those of the entries.
  void tidy() const;

  const std::vector<Entry>& entries() const { return entries_; }  ///< the best first
  /// Throws InputError when a file is gone.
  void restore(std::vector<Entry> entries);
  void clear() { entries_.clear(); }

  /// The mean of all entries' parameters: new tensors under the given names and shapes.
  std::vector<NamedTensor> mean(const std::vector<NamedTensor>& parameters) const;

 private:
  std::filesystem::path file(std::int64_t step) const;

  std::filesystem::path folder_;
  std::size_t count_;
  std::string metric_;
  std::vector<Entry> entries_;
};

}  // namespace attend
