// Reads labelled texts from a tab-separated file: a text, optionally a second text, and one or several labels.
#pragma once
#include <cstdint>
#include <filesystem>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "attend/core/progress.h"
#include "attend/data/reader.h"

namespace attend {

/// The columns of a file. A column is a number from 1, or a name in the first row.
struct LabelColumns {
  std::string text = "1";
  std::string pair = {};       ///< the column of a second text; empty: none
  std::string label = {};      ///< empty: "2", or "3" if there is a second text
  std::string separator = {};  ///< separates the labels of a text, of which there may be any number; empty: one label

  std::string label_column() const { return !label.empty() ? label : pair.empty() ? "2" : "3"; }
  void visit(auto&& v) const {
    v("text", text), v("pair", pair), v("label", label_column()), v("separator", separator);
  }
};

struct LabelledText {
  std::string text, second;
  std::vector<std::string> labels;
};

/// Reads one text at a time. Empty lines are skipped.
class LabelledReader {
 public:
  LabelledReader(std::filesystem::path path, LabelColumns columns, Progress progress = {});

  /// False at the end. Throws InputError, with the line, where a column or a label is missing, and at the end of a file
  /// that has no text.
  bool next(LabelledText& text);

 private:
  std::unique_ptr<CorpusReader> open(const std::string& column) const;

  std::filesystem::path path_;
  LabelColumns columns_;
  Progress progress_;
  std::unique_ptr<CorpusReader> texts_, seconds_;
  bool any_ = false;
};

/// Reads and checks a whole file, and returns all of its labels.
std::set<std::string> labels_in(const std::filesystem::path& path, const LabelColumns& columns,
                                const Progress& progress = {});

}  // namespace attend
