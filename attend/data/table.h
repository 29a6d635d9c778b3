// The base of the TSV and CSV readers: it selects the source and target fields of each row. A subclass splits rows into
// fields.
#pragma once
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "attend/data/reader.h"

namespace attend {

class TableReader : public CorpusReader {
 public:
  TableReader(TextStream text, Columns columns);

  bool next(Record& record) final;
  bool has_targets() const final { return !columns_.target.empty(); }
  const std::string& name() const final { return text_.name(); }
  std::int64_t position() const final { return text_.position(); }
  InvalidText invalid_text() const final { return text_.invalid(); }

 protected:
  /// Reads the fields of the next row and the line where it begins. Returns false at the end.
  virtual bool row(std::vector<std::string>& fields, std::int64_t& line) = 0;
  /// What separates the fields, for messages.
  virtual std::string separator() const = 0;

  TextStream text_;

 private:
  void find_columns();
  /// Skips a row that does not have the columns, or throws.
  void take_short_row(std::int64_t line);

  Columns columns_;
  bool started_ = false;
  bool any_record_ = false;
  std::size_t source_ = 0, target_ = 0, most_columns_ = 0;
  std::vector<std::string> fields_;
};

}  // namespace attend
