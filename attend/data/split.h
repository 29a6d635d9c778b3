// A corpus in three parts, so that nothing of the test is in the training: all records whose source is the same, but
// for case, spaces and punctuation, go to one part. Which part depends on the source and the seed alone.
#pragma once
#include <array>
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "attend/data/hash.h"
#include "attend/data/reader.h"

namespace attend {

enum class Part { train, validation, test };
constexpr std::size_t kParts = 3;
std::string_view name_of(Part part);

/// How much of a corpus: a share, or exactly so many records.
struct PartSize {
  double share = 0;
  std::int64_t records = 0;
};
/// "5%", "0.05" or "1000". Throws InputError on anything else.
PartSize parse_part_size(std::string_view text);

struct SplitOptions {
  PartSize validation, test;
  std::uint64_t seed = 1;
};

/// The letters and digits of a text in lower case, with one space between words: what two sources have in common when
/// only their writing differs. A text without any is itself.
std::string split_key(std::string_view source);

/// Shares are met by chance, as near as hashes are even. Exact numbers are met by keeping back the records whose hashes
/// are the least: so many are in memory, and no more. They can be missed only where many records share a source.
class Splitter {
 public:
  using Sink = std::function<void(Part part, const Record& record)>;

  Splitter(SplitOptions options, Sink sink);
  void add(const Record& record);
  /// Gives out what was kept back.
  void finish();
  std::int64_t size(Part part) const { return sizes_[static_cast<std::size_t>(part)]; }

 private:
  void give(Part part, const Record& record);

  SplitOptions options_;
  Sink sink_;
  std::map<Hash128, std::vector<Record>> kept_;  // groups of one source; those with greater hashes went to training
  Hash128 limit_{~std::uint64_t{0}, ~std::uint64_t{0}};
  std::int64_t kept_records_ = 0, wanted_ = 0;
  std::array<std::int64_t, kParts> sizes_{};
};

}  // namespace attend
