#include "attend/text/json.h"

#include <limits>
#include <nlohmann/json.hpp>
#include <vector>

namespace attend {
namespace {

using nlohmann::json;

const json& get(const void* value) { return *static_cast<const json*>(value); }

/// How one gets from a value to another that is somewhere in it. Only errors ask, so it may search.
bool find_path(const json& from, const json* to, std::vector<std::string>& path) {
  if (&from == to) return true;
  std::size_t index = 0;
  for (auto it = from.begin(); it != from.end() && from.is_structured(); ++it, ++index) {
    path.push_back(from.is_object() ? it.key() : '[' + std::to_string(index) + ']');
    if (find_path(*it, to, path)) return true;
    path.pop_back();
  }
  return false;
}

/// What a value is, and its beginning: `the string "abc"`.
std::string describe(const json& value) {
  if (value.is_structured()) return value.is_object() ? "an object" : "a list";
  constexpr std::size_t kShown = 40;
  std::string shown = value.dump(-1, ' ', true, json::error_handler_t::replace);
  if (shown.size() > kShown) shown = shown.substr(0, kShown) + "…";
  return shown;
}

}  // namespace

struct JsonDocument::Tree {
  json root;
};

JsonDocument::JsonDocument(std::string_view text, std::string file) : file_(std::move(file)) {
  try {
    // What is nested too deep would exhaust the stack of whoever walks it.
    static constexpr int kDeepest = 64;
    const auto callback = [this](int depth, json::parse_event_t, json&) {
      if (depth > kDeepest) fail<InputError>("tokenizer", file_, ": nested deeper than ", kDeepest, " levels");
      return true;
    };
    tree_ = std::make_unique<const Tree>(Tree{json::parse(text, callback)});
  } catch (const json::parse_error& error) {
    const std::string_view what =
        error.what();  // "[json.exception.parse_error.101] parse error at line 1, column 2: …"
    const std::size_t label = what.find("] ");
    fail<InputError>("tokenizer", file_, ": not valid JSON: ", label == what.npos ? what : what.substr(label + 2));
  } catch (const json::exception& error) {
    fail<InputError>("tokenizer", file_, ": not valid JSON: ", error.what());
  }
}

JsonDocument::~JsonDocument() = default;

JsonValue JsonDocument::root() const { return {*this, &tree_->root}; }

std::string JsonValue::place() const {
  std::vector<std::string> path;
  find_path(document_->tree_->root, &get(value_), path);
  std::string text = document_->file();
  for (std::size_t i = 0; i < path.size(); ++i) text += (i == 0 ? ": " : path[i].starts_with('[') ? "" : ".") + path[i];
  return text;
}

void JsonValue::fail_kind(std::string_view expected) const {
  fail("got ", describe(get(value_)), ", expected ", expected);
}

bool JsonValue::is_null() const { return get(value_).is_null(); }
bool JsonValue::is_boolean() const { return get(value_).is_boolean(); }
bool JsonValue::is_number() const { return get(value_).is_number(); }
bool JsonValue::is_string() const { return get(value_).is_string(); }
bool JsonValue::is_array() const { return get(value_).is_array(); }
bool JsonValue::is_object() const { return get(value_).is_object(); }

bool JsonValue::boolean() const {
  if (!is_boolean()) fail_kind("true or false");
  return get(value_).get<bool>();
}

std::int64_t JsonValue::integer() const {
  const json& value = get(value_);
  if (!value.is_number_integer()) fail_kind("an integer");
  if (value.is_number_unsigned() && value.get<std::uint64_t>() > std::numeric_limits<std::int64_t>::max())
    fail_kind("a smaller integer");
  return value.get<std::int64_t>();
}

std::int32_t JsonValue::id() const {
  if (!get(value_).is_number_integer()) fail_kind("an id");
  const std::int64_t value = integer();
  if (value < 0 || value > std::numeric_limits<std::int32_t>::max()) fail_kind("an id from 0 to 2147483647");
  return static_cast<std::int32_t>(value);
}

double JsonValue::number() const {
  if (!is_number()) fail_kind("a number");
  return get(value_).get<double>();
}

std::string_view JsonValue::string() const {
  if (!is_string()) fail_kind("a string");
  return get(value_).get_ref<const std::string&>();
}

std::size_t JsonValue::size() const {
  if (!is_array() && !is_object()) fail_kind("a list or an object");
  return get(value_).size();
}

JsonValue JsonValue::operator[](std::size_t index) const {
  if (!is_array()) fail_kind("a list");
  if (index >= size()) fail("got ", size(), " elements, expected ", index + 1, " or more");
  return {*document_, &get(value_)[index]};
}

JsonValue JsonValue::operator[](std::string_view key) const {
  if (!is_object()) fail_kind("an object");
  const json& object = get(value_);
  const auto it = object.find(std::string(key));
  if (it == object.end()) fail("\"", key, "\" is missing");
  return {*document_, &*it};
}

std::optional<JsonValue> JsonValue::find(std::string_view key) const {
  if (!is_object()) fail_kind("an object");
  const json& object = get(value_);
  const auto it = object.find(std::string(key));
  if (it == object.end() || it->is_null()) return std::nullopt;
  return JsonValue(*document_, &*it);
}

void JsonValue::each_element(const std::function<void(JsonValue)>& f) const {
  if (!is_array()) fail_kind("a list");
  for (const json& element : get(value_)) f({*document_, &element});
}

void JsonValue::each_member(const std::function<void(std::string_view, JsonValue)>& f) const {
  if (!is_object()) fail_kind("an object");
  const json& object = get(value_);
  for (auto it = object.begin(); it != object.end(); ++it) f(it.key(), {*document_, &*it});
}

bool JsonValue::boolean(std::string_view key, bool otherwise) const {
  const std::optional<JsonValue> member = find(key);
  return member ? member->boolean() : otherwise;
}

std::string JsonValue::string(std::string_view key, std::string_view otherwise) const {
  const std::optional<JsonValue> member = find(key);
  return std::string(member ? member->string() : otherwise);
}

}  // namespace attend
