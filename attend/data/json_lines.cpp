// JSON lines: each line is an object, and the texts are found by key.
#include <nlohmann/json.hpp>
#include <utility>

#include "attend/core/error.h"
#include "attend/core/wording.h"
#include "attend/data/reader.h"

namespace attend {
namespace {

using nlohmann::json;

/// The value of a key; "a.b" is the key "a.b", or else b in the object a. Null if there is none.
const json* find(const json& object, std::string_view key) {
  if (!object.is_object()) return nullptr;
  if (const auto found = object.find(std::string(key)); found != object.end()) return &*found;
  const std::size_t dot = key.find('.');
  if (dot == std::string_view::npos) return nullptr;
  const auto inner = object.find(std::string(key.substr(0, dot)));
  return inner == object.end() ? nullptr : find(*inner, key.substr(dot + 1));
}

/// Sets `text` to a string, or to the JSON form of a number or boolean (labels). False for other values.
bool text_of(const json* value, std::string& text) {
  if (!value || value->is_null() || value->is_structured()) return false;
  text = value->is_string() ? value->get_ref<const std::string&>() : value->dump();
  return true;
}

/// The keys of an object, for messages.
std::string keys_of(const json& object) {
  std::vector<std::string> keys;
  if (object.is_object())
    for (const auto& [key, value] : object.items()) keys.push_back(key);
  return listed(keys);
}

class JsonLinesReader final : public CorpusReader {
 public:
  JsonLinesReader(TextStream text, Columns keys) : text_(std::move(text)), keys_(std::move(keys)) {
    if (keys_.source.empty()) fail<InputError>("corpus", "no key was named for the source");
  }

  bool next(Record& record) override {
    while (text_.line(line_)) {
      if (line_.find_first_not_of(" \t") == std::string::npos) continue;
      record.line = text_.lines();
      record.target.clear();
      const json object = json::parse(line_, nullptr, /*allow_exceptions=*/false);
      if (!any_record_ && skipped().empty()) first_keys_ = keys_of(object);
      if (!object.is_object())
        skip("no JSON object", record.line);
      else if (!text_of(find(object, keys_.source), record.source))
        skip("no text under \"" + keys_.source + '"', record.line);
      else if (has_targets() && !text_of(find(object, keys_.target), record.target))
        skip("no text under \"" + keys_.target + '"', record.line);
      else
        return any_record_ = true;
    }
    if (!any_record_ && !skipped().empty())
      fail<InputError>("corpus", name(), ": no line gives a record: line ", skipped().front().first_line, " has ",
                       skipped().front().reason, first_keys_.empty() ? "" : "; its keys are " + first_keys_);
    return false;
  }
  bool has_targets() const override { return !keys_.target.empty(); }
  const std::string& name() const override { return text_.name(); }
  std::int64_t position() const override { return text_.position(); }
  InvalidText invalid_text() const override { return text_.invalid(); }

 private:
  TextStream text_;
  Columns keys_;
  std::string line_;
  bool any_record_ = false;
  std::string first_keys_;  // of the first line
};

}  // namespace

std::unique_ptr<CorpusReader> read_json_lines(TextStream text, Columns keys) {
  return std::make_unique<JsonLinesReader>(std::move(text), std::move(keys));
}

}  // namespace attend
