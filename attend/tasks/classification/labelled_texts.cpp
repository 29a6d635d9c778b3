#include "attend/tasks/classification/labelled_texts.h"

#include <algorithm>

#include "attend/core/error.h"
#include "attend/core/wording.h"
#include "attend/data/table.h"

namespace attend {
namespace {

/// Splits a field into labels and strips spaces. Empty labels are left out.
std::vector<std::string> split_labels(const std::string& field, const std::string& separator) {
  std::vector<std::string> labels;
  for (std::size_t begin = 0; begin <= field.size();) {
    const std::size_t end = separator.empty() ? field.size() : std::min(field.find(separator, begin), field.size());
    std::string label = field.substr(begin, end - begin);
    label.erase(0, label.find_first_not_of(' '));
    label.erase(label.find_last_not_of(' ') + 1);
    if (!label.empty()) labels.push_back(std::move(label));
    begin = end + std::max<std::size_t>(separator.size(), 1);
  }
  return labels;
}

}  // namespace

LabelledReader::LabelledReader(std::filesystem::path path, LabelColumns columns, Progress progress)
    : path_(std::move(path)), columns_(std::move(columns)), progress_(std::move(progress)) {
  columns_.label = columns_.label_column();
  if (columns_.label == columns_.text || columns_.label == columns_.pair)
    fail<InputError>("labels", "--label-column: ", columns_.label, " is the column of the text");
  texts_ = open(columns_.text);
  if (!columns_.pair.empty()) seconds_ = open(columns_.pair);
}

std::unique_ptr<CorpusReader> LabelledReader::open(const std::string& column) const {
  return read_tsv(TextStream::open(path_), {column, columns_.label});
}

void LabelledReader::check_end(const CorpusReader& reader, const std::string& column) const {
  for (const Skipped& skipped : reader.skipped())
    if (skipped.reason == kTooFewColumns)
      fail<InputError>("labels", path_.string(), ", line ", skipped.first_line,
                       ": has too few columns, expected a text in column ", column, " and a label in column ",
                       columns_.label, ", separated by tabs",
                       skipped.count == 1 ? "" : "; " + counted(skipped.count, "line") + " have too few columns");
}

bool LabelledReader::next(LabelledText& text) {
  Record row, second;
  const bool more = texts_->next(row), more_seconds = seconds_ && seconds_->next(second);
  if (!more || (seconds_ && !more_seconds)) {
    // If only one of the two readers skips a row, it ends early: read the rest of both to find the row.
    while (texts_->next(row)) {
    }
    check_end(*texts_, columns_.text);
    if (seconds_) {
      while (seconds_->next(second)) {
      }
      check_end(*seconds_, columns_.pair);
    }
    if (!any_) fail<InputError>("labels", path_.string(), ": holds no labelled text");
    return false;
  }
  any_ = true;
  text = {std::move(row.source), std::move(second.source), split_labels(row.target, columns_.separator)};
  if (text.labels.empty() && columns_.separator.empty())
    fail<InputError>("labels", path_.string(), ", line ", row.line, ": has no label in column ", columns_.label);
  if (progress_) progress_(texts_->position(), 0);
  return true;
}

std::set<std::string> labels_in(const std::filesystem::path& path, const LabelColumns& columns,
                                const Progress& progress) {
  std::set<std::string> labels;
  LabelledReader reader(path, columns, progress);
  for (LabelledText text; reader.next(text);) labels.insert(text.labels.begin(), text.labels.end());
  return labels;
}

}  // namespace attend
