// JSON lines: each line is an object, and the texts are found by key.
#include <optional>
#include <set>
#include <utility>

#include "attend/core/error.h"
#include "attend/core/json.h"
#include "attend/core/wording.h"
#include "attend/data/reader.h"

namespace attend {
namespace {

/// The value of a key; "a.b" is the key "a.b", or else b in the object a.
std::optional<JsonValue> find(const JsonValue& object, std::string_view key) {
  if (!object.is_object()) return {};
  if (const auto found = object.find(key)) return found;
  const std::size_t dot = key.find('.');
  if (dot == std::string_view::npos) return {};
  const auto inner = object.find(key.substr(0, dot));
  return inner ? find(*inner, key.substr(dot + 1)) : std::nullopt;
}

/// Sets `text` to a string, or to the JSON form of a number or boolean (labels). False for other values.
bool text_of(const std::optional<JsonValue>& value, std::string& text) {
  if (!value || value->is_array() || value->is_object()) return false;
  text = value->is_string() ? value->string() : value->shown();
  return true;
}

/// The keys of an object, for messages.
std::string keys_of(const JsonValue& object) {
  std::set<std::string> keys;
  if (object.is_object()) object.each_member([&](std::string_view key, const JsonValue&) { keys.emplace(key); });
  return listed({keys.begin(), keys.end()});
}

/// None: the line is not valid JSON.
std::unique_ptr<const JsonDocument> parse(const std::string& line) {
  try {
    return std::make_unique<const JsonDocument>(line, "", "corpus");
  } catch (const InputError&) {
    return nullptr;
  }
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
      const std::unique_ptr<const JsonDocument> document = parse(line_);
      if (!document || !document->root().is_object()) {
        skip("no JSON object", record.line);
        continue;
      }
      const JsonValue object = document->root();
      if (!any_record_ && skipped().empty()) first_keys_ = keys_of(object);
      if (!text_of(find(object, keys_.source), record.source))
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
