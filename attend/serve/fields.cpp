#include "attend/serve/fields.h"

#include <algorithm>
#include <cmath>

#include "attend/serve/api_error.h"
#include "attend/serve/http_message.h"
#include "attend/text/unicode.h"

namespace attend::serve {
namespace {

constexpr std::size_t kDeepest = 32;
constexpr std::size_t kMostKeys = 1000;  // in one object
constexpr std::size_t kLongestNumber = 100;
constexpr std::size_t kMostTexts = 2048;

std::string list_of(const std::vector<std::string>& names) {
  std::string all;
  for (const std::string& name : names) all += (all.empty() ? "\"" : ", \"") + name + "\"";
  return all;
}

/// Whole numbers without a decimal point.
std::string number_text(double value) {
  const bool whole = std::abs(value) < 0x1p53 && value == std::floor(value);
  return whole ? Json(static_cast<std::int64_t>(value)).dump() : Json(value).dump();
}

ApiError invalid_json(const std::string& message) { return {400, "invalid_json", message}; }

/// Builds a tree from the events of the parser, within bounds. ordered_json's own builder looks for each new key among
/// the keys before it, which takes minutes for some megabytes of keys.
class BoundedBuilder final : public nlohmann::json_sax<Json> {
 public:
  Json take() { return std::move(root_); }

  bool null() override { return add(nullptr); }
  bool boolean(bool value) override { return add(value); }
  bool number_integer(number_integer_t value) override { return add(value); }
  bool number_unsigned(number_unsigned_t value) override { return add(value); }
  bool number_float(number_float_t value, const string_t& text) override {
    if (text.size() > kLongestNumber)
      throw invalid_json("a number in the body is too long: got " + std::to_string(text.size()) +
                         " characters, expected at most " + std::to_string(kLongestNumber));
    return add(value);
  }
  bool string(string_t& value) override { return add(std::move(value)); }
  bool binary(binary_t&) override { return false; }  // JSON has none

  bool start_object(std::size_t) override { return open(true); }
  bool key(string_t& key) override {
    if (open_.back().keys.size() == kMostKeys)
      throw invalid_json("an object in the body has more than " + std::to_string(kMostKeys) + " keys");
    open_.back().keys.push_back(std::move(key));
    return true;
  }
  bool end_object() override {
    Open closed = close();
    std::vector<std::string_view> sorted(closed.keys.begin(), closed.keys.end());
    std::ranges::sort(sorted);
    if (const auto twice = std::ranges::adjacent_find(sorted); twice != sorted.end())
      throw invalid_json("the key \"" + std::string(twice->substr(0, 100)) + "\" is given twice in one object");
    Json object = Json::object();
    auto& members = object.get_ref<Json::object_t&>();
    members.reserve(closed.keys.size());
    for (std::size_t i = 0; i < closed.keys.size(); ++i)  // the base's, which does not look for the key
      members.Json::object_t::Container::emplace_back(std::move(closed.keys[i]), std::move(closed.values[i]));
    return attach(std::move(object));
  }
  bool start_array(std::size_t) override { return open(false); }
  bool end_array() override { return attach(Json(std::move(close().values))); }

  bool parse_error(std::size_t byte, const std::string&, const Json::exception& error) override {
    if (dynamic_cast<const Json::parse_error*>(&error))
      throw invalid_json("the body is not JSON: the error is at byte " + std::to_string(byte));
    throw invalid_json("the body is not JSON: a number in it is out of range");
  }

 private:
  struct Open {
    bool object;
    std::vector<std::string> keys = {};
    Json::array_t values = {};
  };

  void count() {
    if (++values_ > kMostValues)
      throw invalid_json("the body has more than " + std::to_string(kMostValues) + " values");
  }
  bool open(bool object) {
    count();
    if (open_.size() == kDeepest)
      throw invalid_json("the body is nested too deeply, expected at most " + std::to_string(kDeepest) + " levels");
    open_.push_back({object});
    return true;
  }
  Open close() {
    Open closed = std::move(open_.back());
    open_.pop_back();
    return closed;
  }
  bool add(Json value) {
    count();
    return attach(std::move(value));
  }
  bool attach(Json value) {
    if (open_.empty())
      root_ = std::move(value);
    else
      open_.back().values.push_back(std::move(value));
    return true;
  }

  std::vector<Open> open_;
  std::size_t values_ = 0;
  Json root_;
};

/// The position after a JSON string that begins at `at`; the end of the text if it does not end.
std::size_t skip_string(std::string_view text, std::size_t at) {
  for (++at; at < text.size() && text[at] != '"'; ++at)
    if (text[at] == '\\') ++at;
  return std::min(at + 1, text.size());
}

}  // namespace

bool looks_like_json(std::string_view body) {
  const std::size_t first = body.find_first_not_of(" \t\r\n");
  return first != std::string_view::npos && body[first] == '{';
}

Json parse_object(std::string_view body) {
  if (const std::int64_t invalid = count_invalid_utf8(body); invalid > 0)
    throw ApiError(400, "invalid_utf8", "the body is not UTF-8: got " + std::to_string(invalid) + " invalid sequences");
  BoundedBuilder builder;
  Json::sax_parse(body, &builder);
  Json json = builder.take();
  if (!json.is_object()) throw invalid_json(std::string("the body is not a JSON object: got ") + json.type_name());
  return json;
}

std::string find_text(std::string_view object, std::string_view key) {
  int depth = 0;
  bool is_key = false;  // whether the next string at depth 1 is a key
  for (std::size_t at = 0; at < object.size();) {
    const char c = object[at];
    if (c != '"') {
      depth += (c == '{' || c == '[') - (c == '}' || c == ']');
      is_key = depth == 1 && (c == '{' || c == ',' || (is_key && c != ':'));
      ++at;
      continue;
    }
    const std::size_t end = skip_string(object, at);
    const bool found = is_key && depth == 1 && object.substr(at + 1, end - at - 2) == key;
    at = end;
    if (!found) continue;
    at = object.find_first_not_of(" \t\r\n", at);
    if (at == std::string_view::npos || object[at] != ':') return "";
    at = object.find_first_not_of(" \t\r\n", at + 1);
    if (at == std::string_view::npos || object[at] != '"') return "";
    const std::string_view value = object.substr(at, skip_string(object, at) - at);
    const Json text = value.size() > 4096 ? Json() : Json::parse(value, nullptr, false);
    return text.is_string() ? text.get<std::string>() : "";
  }
  return "";
}

std::string find_form_text(std::string_view form, std::string_view key) {
  std::size_t count = 0;
  for (std::size_t at = 0; at < form.size(); at = std::min(form.find('&', at), form.size() - 1) + 1) {
    if (count++ == kMostKeys) return "";  // which parse_form() refuses
    if (form.compare(at, key.size(), key) != 0 || form.substr(at + key.size(), 1) != "=") continue;
    at += key.size() + 1;
    return decode_url(form.substr(at, form.find('&', at) - at), true);
  }
  return "";
}

std::map<std::string, std::string> parse_form(std::string_view form) {
  std::map<std::string, std::string> fields;
  for (std::size_t count = 0; !form.empty(); ++count) {
    if (count == kMostKeys)
      throw ApiError(400, "invalid_value", "the form has more than " + std::to_string(kMostKeys) + " fields");
    const std::string_view field = form.substr(0, form.find('&'));
    form.remove_prefix(std::min(field.size() + 1, form.size()));
    const std::size_t equals = std::min(field.find('='), field.size());
    if (!field.empty())
      fields.emplace(decode_url(field.substr(0, equals), true),
                     decode_url(field.substr(std::min(equals + 1, field.size())), true));
  }
  return fields;
}

std::string dump(const Json& json) { return json.dump(-1, ' ', false, Json::error_handler_t::replace); }

Fields::Fields(const Json& object, std::string path) : object_(object), path_(std::move(path)) {
  if (!object.is_object()) throw invalid_value(path_, "expected an object: got " + std::string(object.type_name()));
}

const Json* Fields::find(const char* key) {
  known_.insert(key);
  const auto found = object_.find(key);
  return found == object_.end() || found->is_null() ? nullptr : &*found;
}

const Json& Fields::required(const char* key) {
  if (const Json* value = find(key)) return *value;
  throw ApiError(400, "missing_field", "the field \"" + name(key) + "\" is missing", name(key));
}

std::optional<std::string> Fields::optional_text(const char* key) {
  const Json* value = find(key);
  if (!value) return {};
  if (!value->is_string()) throw invalid_value(name(key), "\"" + name(key) + "\" is a text: got " + value->type_name());
  return value->get<std::string>();
}

std::string Fields::text(const char* key) {
  required(key);
  return *optional_text(key);
}

std::optional<bool> Fields::flag(const char* key) {
  const Json* value = find(key);
  if (!value) return {};
  if (!value->is_boolean())
    throw invalid_value(name(key), "\"" + name(key) + "\" is true or false: got " + value->type_name());
  return value->get<bool>();
}

std::optional<double> Fields::number(const char* key, double least, double most) {
  const Json* value = find(key);
  if (!value) return {};
  if (!value->is_number())
    throw invalid_value(name(key), "\"" + name(key) + "\" is a number: got " + value->type_name());
  const auto number = value->get<double>();
  if (!(number >= least && number <= most))
    throw invalid_value(name(key), "\"" + name(key) + "\" is out of its range: got " + number_text(number) +
                                       ", expected " + number_text(least) + " to " + number_text(most));
  return number;
}

std::optional<std::int64_t> Fields::integer(const char* key, std::int64_t least, std::int64_t most) {
  const auto value = number(key, static_cast<double>(least), static_cast<double>(most));
  if (!value) return {};
  if (*value != std::floor(*value))
    throw invalid_value(name(key), "\"" + name(key) + "\" is a whole number: got " + number_text(*value));
  const Json& json = *object_.find(key);
  return json.is_number_integer() ? json.get<std::int64_t>() : static_cast<std::int64_t>(*value);
}

std::vector<std::string> Fields::texts(const char* key) {
  const Json& value = required(key);
  if (value.is_string()) return {value.get<std::string>()};
  std::vector<std::string> all;
  if (value.is_array())
    for (const Json& one : value) {
      if (!one.is_string()) break;
      all.push_back(one.get<std::string>());
    }
  if (!value.is_array() || all.size() != value.size())
    throw invalid_value(name(key), "\"" + name(key) + "\" is a text or an array of texts; tokens are not taken here");
  if (all.empty()) throw invalid_value(name(key), "\"" + name(key) + "\" is an empty array, expected a text at least");
  check_number_of_texts(key, all.size());
  return all;
}

void Fields::check_number_of_texts(const char* key, std::size_t count) const {
  if (count > kMostTexts)
    throw invalid_value(name(key), "\"" + name(key) + "\" has too many texts: got " + std::to_string(count) +
                                       ", expected at most " + std::to_string(kMostTexts));
}

std::vector<std::string> Fields::optional_texts(const char* key) {
  const Json* value = find(key);
  return value && !(value->is_array() && value->empty()) ? texts(key) : std::vector<std::string>();
}

std::vector<std::int64_t> Fields::integers(const char* key) {
  const Json* value = find(key);
  if (!value) return {};
  std::vector<std::int64_t> all;
  for (const Json& one : *value) {
    if (!value->is_array() || !one.is_number_integer()) break;
    all.push_back(one.get<std::int64_t>());
  }
  if (!value->is_array() || all.size() != value->size())
    throw invalid_value(name(key), "\"" + name(key) + "\" is an array of whole numbers");
  return all;
}

std::optional<std::string> Fields::choice(const char* key, const std::vector<std::string>& names) {
  auto value = optional_text(key);
  if (value && std::ranges::find(names, *value) == names.end())
    throw invalid_value(name(key), "\"" + name(key) + "\" has no such choice: got \"" + *value +
                                       "\", expected one of " + list_of(names));
  return value;
}

void Fields::refuse(const char* key, const std::vector<Json>& harmless, const char* why) {
  const Json* value = find(key);
  if (value && std::ranges::find(harmless, *value) == harmless.end())
    throw invalid_value(name(key), "\"" + name(key) + "\" is not supported: " + why);
}

void Fields::refuse_others() const {
  for (const auto& [key, value] : object_.items())
    if (!known_.contains(key)) throw invalid_value(path_ + key, "there is no field \"" + path_ + key + "\" here");
}

}  // namespace attend::serve
