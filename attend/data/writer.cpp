#include "attend/data/writer.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <utility>

#include "attend/core/error.h"

namespace attend {

CorpusWriter::CorpusWriter(WriteFormat format, bool has_targets, std::vector<Sink> sinks)
    : format_(format), has_targets_(has_targets), sinks_(std::move(sinks)) {
  const std::size_t expected = format == WriteFormat::lines && has_targets ? 2 : 1;
  if (sinks_.size() != expected)
    fail<InputError>("corpus", "the places to write to do not fit the format: got ", sinks_.size(), ", expected ",
                     expected);
}

void CorpusWriter::append_flat(std::string_view text) {
  const auto is_break = [tab = format_ == WriteFormat::tsv ? '\t' : '\n'](char c) {
    return c == '\n' || c == '\r' || c == tab;
  };
  bool any = false;
  for (const char c : text) any |= is_break(c);  // without an early exit the loop is vectorised; few texts have a break
  const std::size_t begin = line_.size();
  line_ += text;
  if (!any) return;
  std::replace_if(line_.begin() + static_cast<std::ptrdiff_t>(begin), line_.end(), is_break, ' ');
  ++flattened_;
}

void CorpusWriter::write(const Record& record) {
  ++records_;
  line_.clear();
  if (format_ == WriteFormat::json_lines) {
    nlohmann::ordered_json object = {{"source", record.source}};
    if (has_targets_) object["target"] = record.target;
    line_ = object.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace);
  } else {
    append_flat(record.source);
    if (has_targets_ && format_ == WriteFormat::lines) {
      line_ += '\n';
      sinks_[0](line_);
      line_.clear();
      append_flat(record.target);
    } else if (has_targets_) {
      line_ += '\t';
      append_flat(record.target);
    }
  }
  line_ += '\n';
  sinks_.back()(line_);
}

}  // namespace attend
