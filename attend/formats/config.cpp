#include "attend/formats/config.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <limits>
#include <nlohmann/json.hpp>
#include <unordered_map>

#include "attend/core/error.h"
#include "attend/core/file.h"
#include "attend/core/json.h"

namespace attend {

namespace {

using Ordered = nlohmann::ordered_json;

constexpr std::size_t kMostValues = 1 << 20;  // some 100 MB; a model with 100,000 labels has 200,000

/// A copy that can be written. Built without Ordered's own insertion, which compares a new key with all others.
Ordered copy_of(const JsonValue& value) {
  if (value.is_null()) return nullptr;
  if (value.is_boolean()) return value.boolean();
  if (value.is_integer()) return value.integer();
  if (value.is_number()) return value.number();
  if (value.is_string()) return std::string(value.string());
  if (value.is_array()) {
    Ordered list = Ordered::array();
    value.each_element([&](const JsonValue& element) { list.push_back(copy_of(element)); });
    return list;
  }
  Ordered object = Ordered::object();
  auto& members = object.get_ref<Ordered::object_t&>();
  std::unordered_map<std::string_view, std::size_t> places;
  value.each_member([&](std::string_view key, const JsonValue& member) {
    const auto [place, is_new] = places.emplace(key, members.size());
    if (is_new)
      members.emplace_back(std::string(key), copy_of(member));
    else
      members.data()[place->second].second = copy_of(member);  // the last member with this key wins
  });
  return object;
}

}  // namespace

/// An object, with an index of its keys: files may have many, such as one for each label.
struct Config::Json {
  Json() = default;
  explicit Json(Ordered object) : value(std::move(object)) {
    for (const auto& [key, member] : value.get_ref<const Ordered::object_t&>()) places.emplace(key, places.size());
  }

  /// The value under a key, or null.
  const Ordered* find(std::string_view key) const {
    const auto place = places.find(std::string(key));
    if (place == places.end()) return nullptr;
    const Ordered& found = value.get_ref<const Ordered::object_t&>().data()[place->second].second;
    return found.is_null() ? nullptr : &found;
  }
  void set(std::string_view key, Ordered member) {
    auto& members = value.get_ref<Ordered::object_t&>();
    const auto [place, is_new] = places.emplace(key, members.size());
    if (is_new)
      members.emplace_back(std::string(key), std::move(member));
    else
      members.data()[place->second].second = std::move(member);
  }

  Ordered value = Ordered::object();
  std::unordered_map<std::string, std::size_t> places;
};

namespace {

/// A value in messages.
std::string shown(const Ordered& value) {
  if (value.is_array()) return "an array";
  if (value.is_object()) return "an object";
  const std::string text = value.dump(-1, ' ', false, Ordered::error_handler_t::replace);
  return text.size() <= 100 ? text : text.substr(0, 100) + "…";
}

template <typename T, typename Is>
T value_of(const std::string& name, const Config::Json& json, std::string_view key, const std::optional<T>& fallback,
           const char* kind, Is&& is) {
  const Ordered* value = json.find(key);
  if (!value && fallback) return *fallback;
  if (!value) fail<InputError>("config", name, ": has no \"", key, "\", expected ", kind);
  if (!is(*value)) fail<InputError>("config", name, ": \"", key, "\" is ", shown(*value), ", expected ", kind);
  return value->template get<T>();
}

bool are_integers(const Ordered& value) {
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
  const JsonDocument document(json, config.name_, "config", kMostValues);
  if (!document.root().is_object()) document.root().fail_kind("an object");
  *config.json_ = Json(copy_of(document.root()));
  return config;
}

bool Config::has(std::string_view key) const { return json_->find(key) != nullptr; }
bool Config::is_null(std::string_view key) const { return !has(key) && json_->places.contains(std::string(key)); }

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
std::int64_t Config::divisor(std::string_view key, std::int64_t whole, std::optional<std::int64_t> fallback) const {
  const std::int64_t value = integer(key, fallback);
  if (value < 1 || whole % value != 0)
    fail<InputError>("config", name_, ": \"", key, "\" is ", value, ", expected a divisor of the width ", whole);
  return value;
}
double Config::number(std::string_view key, std::optional<double> fallback) const {
  return value_of<double>(name_, *json_, key, fallback, "a number", [](const auto& v) { return v.is_number(); });
}
float Config::probability(std::string_view key, std::optional<double> fallback) const {
  const double value = number(key, fallback);
  if (!(value >= 0 && value <= 1))
    fail<InputError>("config", name_, ": \"", key, "\" is ", json(key), ", expected a number from 0 to 1");
  return static_cast<float>(value);
}
float Config::positive(std::string_view key, std::optional<double> fallback) const {
  const double value = number(key, fallback);
  if (const auto narrow = static_cast<float>(value);
      value > 0 && value <= std::numeric_limits<float>::max() && narrow > 0)
    return narrow;
  fail<InputError>("config", name_, ": \"", key, "\" is ", json(key), ", expected a positive number");
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
  if (const Ordered* value = json_->find(key); value && value->is_number_integer()) return {integer(key)};
  return value_of<std::vector<std::int64_t>>(name_, *json_, key, std::vector<std::int64_t>(),
                                             "an integer or an array of integers", are_integers);
}
std::vector<double> Config::numbers(std::string_view key) const {
  return value_of<std::vector<double>>(
      name_, *json_, key, std::vector<double>(), "an array of numbers", [](const auto& v) {
        return v.is_array() && std::all_of(v.begin(), v.end(), [](const auto& one) { return one.is_number(); });
      });
}

std::vector<std::vector<std::int64_t>> Config::integer_lists(std::string_view key) const {
  return value_of<std::vector<std::vector<std::int64_t>>>(
      name_, *json_, key, std::vector<std::vector<std::int64_t>>(), "an array of arrays of integers",
      [](const auto& v) { return v.is_array() && std::all_of(v.begin(), v.end(), are_integers); });
}
std::string Config::json(std::string_view key) const {
  const Ordered* value = json_->find(key);
  return value ? value->dump(-1, ' ', false, Ordered::error_handler_t::replace) : "null";
}
Config Config::object(std::string_view key) const {
  Config inner;
  inner.name_ = name_ + ", " + std::string(key);
  const Ordered* value = json_->find(key);
  if (value && !value->is_object())
    fail<InputError>("config", name_, ": \"", key, "\" is ", value->type_name(), ", expected an object");
  if (value) *inner.json_ = Json(*value);
  return inner;
}

std::vector<Config> Config::objects(std::string_view key) const {
  std::vector<Config> all;
  const Ordered* value = json_->find(key);
  if (value && !value->is_array())
    fail<InputError>("config", name_, ": \"", key, "\" is ", value->type_name(), ", expected an array of objects");
  for (std::size_t i = 0; value && i < value->size(); ++i) {
    const Ordered& element = (*value)[i];
    Config& inner = all.emplace_back();
    inner.name_ = name_ + ", " + std::string(key) + "[" + std::to_string(i) + "]";
    if (!element.is_object())
      fail<InputError>("config", inner.name_, ": is ", element.type_name(), ", expected an object");
    *inner.json_ = Json(element);
  }
  return all;
}

void Config::no_choice(std::string_view key, const std::string& value, const std::string& all) const {
  fail<InputError>("config", name_, ": \"", key, "\" is \"", value, "\", expected one of ", all);
}

void Config::set(std::string_view key, std::int64_t value) { json_->set(key, value); }
void Config::set(std::string_view key, double value) { json_->set(key, value); }
void Config::set(std::string_view key, float value) {
  char shortest[32];
  for (int digits = 6; digits <= 9; ++digits) {
    std::snprintf(shortest, sizeof shortest, "%.*g", digits, static_cast<double>(value));
    if (std::strtof(shortest, nullptr) == value) break;
  }
  set(key, std::strtod(shortest, nullptr));
}
void Config::set(std::string_view key, bool value) { json_->set(key, value); }
void Config::set(std::string_view key, const std::string& value) { json_->set(key, value); }
void Config::set(std::string_view key, const std::vector<std::string>& values) { json_->set(key, values); }
void Config::set(std::string_view key, const std::vector<std::int64_t>& values) { json_->set(key, values); }
void Config::set(std::string_view key, const std::vector<double>& values) { json_->set(key, values); }
void Config::set(std::string_view key, const std::vector<std::vector<std::int64_t>>& values) {
  json_->set(key, values);
}
void Config::set_null(std::string_view key) { json_->set(key, nullptr); }
void Config::set(std::string_view key, const Config& object) { json_->set(key, object.json_->value); }

std::string Config::dump() const { return json_->value.dump(2, ' ', false, Ordered::error_handler_t::replace) + "\n"; }

void Config::save(const std::filesystem::path& path) const {
  AtomicFile file(path);
  file.write(dump());
  file.commit();
}

}  // namespace attend
