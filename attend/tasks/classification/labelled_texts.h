// Texts with labels from a table: tab-separated columns of a text, perhaps a second text, and one label or several.
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

/// Which columns: numbers from 1, or names of the first row.
struct LabelColumns {
  std::string text = "1";
  std::string pair = {};       ///< of a second text; empty: there is none. For encoders only, as are separators
  std::string label = {};      ///< empty: "2", or "3" with pairs
  std::string separator = {};  ///< between the labels of a text, which may then have any number; empty: one label

  std::string label_column() const { return !label.empty() ? label : pair.empty() ? "2" : "3"; }
  void visit(auto&& v) const {
    v("text", text), v("pair", pair), v("label", label_column()), v("separator", separator);
  }
};

struct LabelledText {
  std::string text, second;
  std::vector<std::string> labels;
};

/// Reads one text after the other. Empty lines are passed over.
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

/// Reads a whole file once, checks it, and gives all labels.
std::set<std::string> labels_in(const std::filesystem::path& path, const LabelColumns& columns,
                                const Progress& progress = {});

}  // namespace attend
