// What `attend corpus` read, dropped and wrote, as a table or as JSON.
#pragma once
#include <cstdint>
#include <optional>
#include <ostream>
#include <string>
#include <utility>
#include <vector>

#include "attend/data/reader.h"

namespace attend::cli {

struct CorpusReport {
  struct File {
    std::string name;
    std::int64_t read = 0, kept = 0;
  };
  struct Written {
    std::string part, path;  ///< part: "" when the corpus was not split
    std::int64_t records = 0;
  };
  /// Records that readers skipped, and the place of the first one: "file:line".
  struct Passed {
    std::string reason, first;
    std::int64_t count = 0;
  };

  std::vector<File> files;
  std::vector<Passed> skipped;
  std::vector<std::pair<std::string, std::int64_t>> dropped;  ///< one entry per rule, also if it dropped nothing
  std::vector<Written> written;
  std::vector<std::string> unreadable;  ///< files that are not catalogues, with the reason
  InvalidText invalid_text;
  std::int64_t flattened = 0;  ///< texts whose line breaks or tabs became spaces

  std::int64_t read() const;
  std::int64_t kept() const;
  void add_skipped(const CorpusReader& reader);

  void print_table(std::ostream& out, bool by_file) const;
  void print_json(std::ostream& out) const;
};

}  // namespace attend::cli
