#include "attend/data/writer.h"

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
  bool changed = false;
  for (const char c : text) {
    const bool is_break = c == '\n' || c == '\r' || (c == '\t' && format_ == WriteFormat::tsv);
    changed = changed || is_break;
    line_ += is_break ? ' ' : c;
  }
  flattened_ += changed;
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
