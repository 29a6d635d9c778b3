#include "attend/data/table.h"

#include <algorithm>
#include <charconv>
#include <utility>

#include "attend/core/error.h"
#include "attend/core/wording.h"

namespace attend {
namespace {

/// The index of a column, from 0, if it was given as a number.
std::optional<std::size_t> number_of(const std::string& column) {
  std::size_t number = 0;
  const auto [end, error] = std::from_chars(column.data(), column.data() + column.size(), number);
  if (error != std::errc() || end != column.data() + column.size() || number == 0) return std::nullopt;
  return number - 1;
}

std::string joined(const std::vector<std::string>& names) {
  constexpr std::size_t kShown = 400;
  std::string all;
  for (const std::string& name : names) all += (all.empty() ? "" : ", ") + name;
  return all.size() <= kShown ? all : all.substr(0, kShown) + " …";
}

}  // namespace

TableReader::TableReader(TextStream text, Columns columns) : text_(std::move(text)), columns_(std::move(columns)) {
  if (columns_.source.empty())
    fail<InputError>("corpus", "no column was named for the source; expected a number or a name");
}

void TableReader::find_columns() {
  started_ = true;
  const bool named = !number_of(columns_.source) || (has_targets() && !number_of(columns_.target));
  std::vector<std::string> header;
  std::int64_t line = 0;
  if (named || columns_.header) {
    if (!row(header, line)) return;
  }
  const auto find = [&](const std::string& column) {
    if (const auto number = number_of(column)) {
      if (!header.empty() && *number >= header.size())
        fail<InputError>("corpus", name(), ": there is no column ", column, ": the first row has ",
                         counted(header.size(), "column"), " (", joined(header), ")");
      return *number;
    }
    const auto found = std::ranges::find(header, column);
    if (found == header.end() && column == "0") fail<InputError>("corpus", "there is no column 0: they count from 1");
    if (found == header.end())
      fail<InputError>("corpus", name(), ": the first row has no column \"", column, "\": got ", joined(header));
    return static_cast<std::size_t>(found - header.begin());
  };
  source_ = find(columns_.source);
  if (has_targets()) target_ = find(columns_.target);
}

void TableReader::take_short_row(std::int64_t line) {
  if (fields_.size() == 1 && fields_.front().find_first_not_of(" \r") == std::string::npos)
    return skip("empty line", line);
  if (!columns_.required.empty())
    fail<InputError>("corpus", name(), ", line ", line, ": has only ",
                     fields_.size() == 1 ? "one column (no " + separator() + ")" : counted(fields_.size(), "column"),
                     ", expected ", columns_.required);
  most_columns_ = std::max(most_columns_, fields_.size());
  skip("too few columns", line);
}

bool TableReader::next(Record& record) {
  if (!started_) find_columns();
  while (row(fields_, record.line)) {
    if (fields_.size() <= std::max(source_, target_)) {
      take_short_row(record.line);
      continue;
    }
    any_record_ = true;
    record.target.clear();
    if (has_targets() && target_ != source_) std::swap(record.target, fields_[target_]);
    std::swap(record.source, fields_[source_]);
    if (has_targets() && target_ == source_) record.target = record.source;
    return true;
  }
  if (!any_record_ && most_columns_ > 0)
    fail<InputError>("corpus", name(), ": no row has column ", std::max(source_, target_) + 1, ": got ",
                     counted(most_columns_, "column"), " at most; check the columns and the separator (", separator(),
                     ")");
  return false;
}

}  // namespace attend
