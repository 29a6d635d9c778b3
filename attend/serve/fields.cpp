#include "attend/serve/fields.h"

#include <algorithm>
#include <cmath>

#include "attend/serve/api_error.h"
#include "attend/text/unicode.h"

namespace attend::serve {
namespace {

constexpr int kDeepest = 32;
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

}  // namespace

bool looks_like_json(std::string_view body) {
  const std::size_t first = body.find_first_not_of(" \t\r\n");
  return first != std::string_view::npos && body[first] == '{';
}

Json parse_object(std::string_view body) {
  if (const std::int64_t invalid = count_invalid_utf8(body); invalid > 0)
    throw ApiError(400, "invalid_utf8", "the body is not UTF-8: got " + std::to_string(invalid) + " invalid sequences");
  try {
    const Json json = Json::parse(body, [](int depth, Json::parse_event_t, Json&) {
      if (depth > kDeepest)
        throw ApiError(400, "invalid_json",
                       "the body is nested too deeply, expected at most " + std::to_string(kDeepest) + " levels");
      return true;
    });
    if (!json.is_object())
      throw ApiError(400, "invalid_json", std::string("the body is not a JSON object: got ") + json.type_name());
    return json;
  } catch (const Json::parse_error& error) {
    throw ApiError(400, "invalid_json", "the body is not JSON: the error is at byte " + std::to_string(error.byte));
  } catch (const Json::exception&) {
    throw ApiError(400, "invalid_json", "the body is not JSON: a number in it is out of range");
  }
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
  if (all.size() > kMostTexts)
    throw invalid_value(name(key), "\"" + name(key) + "\" has too many texts: got " + std::to_string(all.size()) +
                                       ", expected at most " + std::to_string(kMostTexts));
  return all;
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
  const auto value = optional_text(key);
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
