#include "attend/tasks/classification/labelled_texts.h"

#include <algorithm>

#include "attend/core/error.h"

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
  const bool usual = columns_.text == "1" &&
                     (columns_.pair.empty() ? columns_.label == "2" : columns_.pair == "2" && columns_.label == "3");
  const std::string required = !usual ? "a text in column " + column + " and a label in column " + columns_.label
                               : columns_.pair.empty() ? "text TAB label"
                                                       : "text TAB text TAB label";
  return read_tsv(TextStream::open(path_), {.source = column, .target = columns_.label, .required = required});
}

bool LabelledReader::next(LabelledText& text) {
  Record row, second;
  const bool more = texts_->next(row);
  if (seconds_) seconds_->next(second);  // the same rows: neither reader skips one that is not empty
  if (!more) {
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
