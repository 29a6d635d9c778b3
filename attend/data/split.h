// Splits a corpus into train, validation and test without leaks: all records whose sources differ only in case, spaces
// or punctuation go to the same part. The part depends only on the source and the seed.
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

/// The size of a part: a fraction of the corpus, or a number of records.
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

/// The letters and digits of a text in lower case, with one space between words. Two sources with the same key go to
/// the same part. A text without letters and digits is its own key.
std::string split_key(std::string_view source);

/// A fraction is met approximately, since the hash of each source decides. A number of records is met exactly: the
/// records with the smallest hashes are kept in memory until finish(). It can be missed only if many records share a
/// source.
class Splitter {
 public:
  using Sink = std::function<void(Part part, const Record& record)>;

  Splitter(SplitOptions options, Sink sink);
  void add(const Record& record);
  /// Passes the records in memory to the sink.
  void finish();
  std::int64_t size(Part part) const { return sizes_[static_cast<std::size_t>(part)]; }

 private:
  void give(Part part, const Record& record);

  SplitOptions options_;
  Sink sink_;
  std::map<Hash128, std::vector<Record>> kept_;  // by source; records with larger hashes went to training
  Hash128 limit_{~std::uint64_t{0}, ~std::uint64_t{0}};
  std::int64_t kept_records_ = 0, wanted_ = 0;
  std::array<std::int64_t, kParts> sizes_{};
};

}  // namespace attend
