// Helpers for the tests of readers.
#pragma once
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "attend/data/reader.h"

namespace attend::test {

struct Pair {
  std::string source, target;
  bool operator==(const Pair&) const = default;
};
inline std::ostream& operator<<(std::ostream& out, const Pair& pair) {
  return out << '(' << pair.source << " | " << pair.target << ')';
}

inline std::vector<Pair> pairs_of(CorpusReader& reader) {
  std::vector<Pair> pairs;
  for (Record record; reader.next(record);) pairs.push_back({record.source, record.target});
  return pairs;
}
inline std::vector<Pair> pairs_of(const std::unique_ptr<CorpusReader>& reader) { return pairs_of(*reader); }

inline std::int64_t skipped_of(const CorpusReader& reader, const std::string& reason) {
  for (const Skipped& skipped : reader.skipped())
    if (skipped.reason == reason) return skipped.count;
  return 0;
}

}  // namespace attend::test
