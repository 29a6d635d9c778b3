#include "attend/formats/config.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <nlohmann/json.hpp>

#include "attend/core/error.h"
#include "attend/core/file.h"

namespace attend {

struct Config::Json {
  nlohmann::ordered_json value = nlohmann::ordered_json::object();

  /// The value under a key, or null.
  const nlohmann::ordered_json* find(std::string_view key) const {
    const auto found = value.find(std::string(key));
    return found == value.end() || found->is_null() ? nullptr : &*found;
  }
};

namespace {

template <typename T, typename Is>
T value_of(const std::string& name, const Config::Json& json, std::string_view key, const std::optional<T>& fallback,
           const char* kind, Is&& is) {
  const nlohmann::ordered_json* value = json.find(key);
  if (!value && fallback) return *fallback;
  if (!value) fail<InputError>("config", name, ": has no \"", key, "\", expected ", kind);
  if (!is(*value)) fail<InputError>("config", name, ": \"", key, "\" is ", value->dump(), ", expected ", kind);
  return value->template get<T>();
}

bool are_integers(const nlohmann::ordered_json& value) {
  return value.is_array() &&
         std::all_of(value.begin(), value.end(), [](const auto& e) { return e.is_number_integer(); });
}

}  // namespace

Config::Config() : json_(std::make_shared<Json>()) {}

Config::Config(const std::filesystem::path& path) : Config() {
  // A missing folder is the most common mistake, so it gets its own message.
  std::error_code ignored;
  if (const std::filesystem::path folder = path.parent_path();
      !folder.empty() && !std::filesystem::is_directory(folder, ignored))
    fail<InputError>("config", folder.string(),
                     std::filesystem::exists(folder, ignored) ? ": is a file, expected a model's folder"
                                                              : ": there is no such folder");
  const MappedFile file = map_file(path);
  *this = parse({reinterpret_cast<const char*>(file.bytes.data()), file.bytes.size()}, path.string());
}

Config Config::parse(std::string_view json, std::string name) {
  Config config;
  config.name_ = std::move(name);
  try {
    config.json_->value = nlohmann::ordered_json::parse(json);
  } catch (const nlohmann::json::exception& error) {
    const std::string_view what = error.what();  // "[json.exception.parse_error.101] parse error at line 1, …"
    const std::size_t label = what.find("] ");
    fail<InputError>("config", config.name_,
                     ": is not valid JSON: ", label == what.npos ? what : what.substr(label + 2));
  }
  if (!config.json_->value.is_object())
    fail<InputError>("config", config.name_, ": is ", config.json_->value.type_name(), ", expected an object");
  return config;
}

bool Config::has(std::string_view key) const { return json_->find(key) != nullptr; }

std::int64_t Config::integer(std::string_view key, std::optional<std::int64_t> fallback) const {
  return value_of<std::int64_t>(name_, *json_, key, fallback, "an integer",
                                [](const auto& v) { return v.is_number_integer(); });
}
std::int64_t Config::integer_in(std::string_view key, std::int64_t least, std::int64_t most,
                                std::optional<std::int64_t> fallback) const {
  const std::int64_t value = integer(key, fallback);
  if (value < least || value > most)
    fail<InputError>("config", name_, ": \"", key, "\" is ", json(key), ", expected ", least, " to ", most);
  return value;
}
double Config::number(std::string_view key, std::optional<double> fallback) const {
  return value_of<double>(name_, *json_, key, fallback, "a number", [](const auto& v) { return v.is_number(); });
}
bool Config::flag(std::string_view key, std::optional<bool> fallback) const {
  return value_of<bool>(name_, *json_, key, fallback, "true or false", [](const auto& v) { return v.is_boolean(); });
}
std::string Config::text(std::string_view key, const std::optional<std::string>& fallback) const {
  return value_of<std::string>(name_, *json_, key, fallback, "a string", [](const auto& v) { return v.is_string(); });
}
std::vector<std::string> Config::texts(std::string_view key) const {
  return value_of<std::vector<std::string>>(
      name_, *json_, key, std::vector<std::string>(), "an array of strings", [](const auto& v) {
        return v.is_array() && std::all_of(v.begin(), v.end(), [](const auto& e) { return e.is_string(); });
      });
}
std::vector<std::int64_t> Config::integers(std::string_view key) const {
  if (const nlohmann::ordered_json* value = json_->find(key); value && value->is_number_integer())
    return {integer(key)};
  return value_of<std::vector<std::int64_t>>(name_, *json_, key, std::vector<std::int64_t>(),
                                             "an integer or an array of integers", are_integers);
}
std::vector<std::vector<std::int64_t>> Config::integer_lists(std::string_view key) const {
  return value_of<std::vector<std::vector<std::int64_t>>>(
      name_, *json_, key, std::vector<std::vector<std::int64_t>>(), "an array of arrays of integers",
      [](const auto& v) { return v.is_array() && std::all_of(v.begin(), v.end(), are_integers); });
}
std::string Config::json(std::string_view key) const {
  const nlohmann::ordered_json* value = json_->find(key);
  return value ? value->dump(-1, ' ', false, nlohmann::json::error_handler_t::replace) : "null";
}
Config Config::object(std::string_view key) const {
  Config inner;
  inner.name_ = name_ + ", " + std::string(key);
  const nlohmann::ordered_json* value = json_->find(key);
  if (value && !value->is_object())
    fail<InputError>("config", name_, ": \"", key, "\" is ", value->type_name(), ", expected an object");
  if (value) inner.json_->value = *value;
  return inner;
}

std::vector<Config> Config::objects(std::string_view key) const {
  std::vector<Config> all;
  const nlohmann::ordered_json* value = json_->find(key);
  if (value && !value->is_array())
    fail<InputError>("config", name_, ": \"", key, "\" is ", value->type_name(), ", expected an array of objects");
  for (std::size_t i = 0; value && i < value->size(); ++i) {
    const nlohmann::ordered_json& element = (*value)[i];
    Config& inner = all.emplace_back();
    inner.name_ = name_ + ", " + std::string(key) + "[" + std::to_string(i) + "]";
    if (!element.is_object())
      fail<InputError>("config", inner.name_, ": is ", element.type_name(), ", expected an object");
    inner.json_->value = element;
  }
  return all;
}

void Config::no_choice(std::string_view key, const std::string& value, const std::string& all) const {
  fail<InputError>("config", name_, ": \"", key, "\" is \"", value, "\", expected one of ", all);
}

void Config::set(std::string_view key, std::int64_t value) { json_->value[std::string(key)] = value; }
void Config::set(std::string_view key, double value) { json_->value[std::string(key)] = value; }
void Config::set(std::string_view key, float value) {
  char shortest[32];
  for (int digits = 6; digits <= 9; ++digits) {
    std::snprintf(shortest, sizeof shortest, "%.*g", digits, static_cast<double>(value));
    if (std::strtof(shortest, nullptr) == value) break;
  }
  set(key, std::strtod(shortest, nullptr));
}
void Config::set(std::string_view key, bool value) { json_->value[std::string(key)] = value; }
void Config::set(std::string_view key, const std::string& value) { json_->value[std::string(key)] = value; }
void Config::set(std::string_view key, const std::vector<std::string>& values) {
  json_->value[std::string(key)] = values;
}
void Config::set(std::string_view key, const std::vector<std::int64_t>& values) {
  json_->value[std::string(key)] = values;
}
void Config::set(std::string_view key, const std::vector<std::vector<std::int64_t>>& values) {
  json_->value[std::string(key)] = values;
}
void Config::set(std::string_view key, const Config& object) { json_->value[std::string(key)] = object.json_->value; }

std::string Config::dump() const {
  return json_->value.dump(2, ' ', false, nlohmann::json::error_handler_t::replace) + "\n";
}

void Config::save(const std::filesystem::path& path) const {
  AtomicFile file(path);
  file.write(dump());
  file.commit();
}

}  // namespace attend
