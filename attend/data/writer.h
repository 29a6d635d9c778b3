// Writes records as TSV, as JSON lines, or as lines with one output for each side. The caller provides the outputs.
#pragma once
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "attend/data/reader.h"

namespace attend {

enum class WriteFormat { tsv, json_lines, lines };

class CorpusWriter {
 public:
  using Sink = std::function<void(std::string_view text)>;

  /// Takes one sink, or two for lines with targets.
  CorpusWriter(WriteFormat format, bool has_targets, std::vector<Sink> sinks);

  void write(const Record& record);

  std::int64_t records() const { return records_; }
  /// Number of texts in which line breaks or tabs became spaces. JSON lines keep them.
  std::int64_t flattened() const { return flattened_; }

 private:
  void append_flat(std::string_view text);

  WriteFormat format_;
  bool has_targets_;
  std::vector<Sink> sinks_;
  std::string line_;
  std::int64_t records_ = 0, flattened_ = 0;
};

}  // namespace attend
