// Access to config.json and similar JSON files. Errors about missing keys and wrong types name the file and the key.
#pragma once
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace attend {

class Config {
 public:
  /// An empty object, to be filled with set().
  Config();
  /// Reads a file. Throws InputError [config] if it does not exist or is not a JSON object.
  explicit Config(const std::filesystem::path& path);
  /// Parses a JSON text; `name` is used in error messages.
  static Config parse(std::string_view json, std::string name);

  const std::string& name() const { return name_; }  ///< the file, for messages
  bool has(std::string_view key) const;              ///< true if the key exists and is not null
  bool is_null(std::string_view key) const;          ///< true if the key exists and is null

  /// The value of a key. Throws InputError if it has the wrong type, or if it is missing (or null) and there is no
  /// fallback.
  std::int64_t integer(std::string_view key, std::optional<std::int64_t> fallback = {}) const;
  /// An integer from `least` to `most`; throws InputError for other values. Use it for sizes, which must not be
  /// trusted.
  std::int64_t integer_in(std::string_view key, std::int64_t least, std::int64_t most,
                          std::optional<std::int64_t> fallback = {}) const;
  /// A positive divisor of `whole`, such as the number of heads of a width; throws InputError for other values.
  std::int64_t divisor(std::string_view key, std::int64_t whole, std::optional<std::int64_t> fallback = {}) const;
  double number(std::string_view key, std::optional<double> fallback = {}) const;
  /// A number from 0 to 1, such as a dropout; throws InputError for other values.
  float probability(std::string_view key, std::optional<double> fallback = {}) const;
  /// A number above 0 that is finite and not 0 as a float, such as the epsilon of a norm.
  float positive(std::string_view key, std::optional<double> fallback = {}) const;
  bool flag(std::string_view key, std::optional<bool> fallback = {}) const;
  std::string text(std::string_view key, const std::optional<std::string>& fallback = {}) const;
  std::vector<std::string> texts(std::string_view key) const;      ///< an array of strings; empty if missing
  Config object(std::string_view key) const;                       ///< an empty object if missing
  std::vector<Config> objects(std::string_view key) const;         ///< an array of objects; empty if missing
  std::vector<std::int64_t> integers(std::string_view key) const;  ///< an array or a single integer; empty if missing
  std::vector<double> numbers(std::string_view key) const;         ///< an array of numbers; empty if missing
  std::vector<std::vector<std::int64_t>> integer_lists(std::string_view key) const;  ///< empty if missing
  std::string json(std::string_view key) const;  ///< a value of any type, as JSON; "null" if missing

  /// Reads an enum by its name. Throws InputError, with all valid names, for other values.
  template <typename Enum>
  Enum choice(std::string_view key, const std::vector<std::pair<std::string, Enum>>& names,
              std::optional<Enum> fallback = {}) const {
    if (fallback && !has(key)) return *fallback;
    std::string all;
    const std::string value = text(key);
    for (const auto& [name, meaning] : names) {
      if (name == value) return meaning;
      all += (all.empty() ? "" : ", ") + name;
    }
    no_choice(key, value, all);
  }

  void set(std::string_view key, std::int64_t value);
  void set(std::string_view key, int value) { set(key, static_cast<std::int64_t>(value)); }
  void set(std::string_view key, double value);
  void set(std::string_view key,
           float value);  ///< written with as few digits as possible, such that it reads back as this float
  void set(std::string_view key, bool value);
  void set(std::string_view key, const std::string& value);
  void set(std::string_view key, const char* value) { set(key, std::string(value)); }
  void set(std::string_view key, const std::vector<std::string>& values);
  void set(std::string_view key, const std::vector<std::int64_t>& values);
  void set(std::string_view key, const std::vector<double>& values);
  void set(std::string_view key, const std::vector<std::vector<std::int64_t>>& values);
  void set(std::string_view key, const Config& object);
  void set_null(std::string_view key);

  std::string dump() const;  ///< JSON with an indent of two spaces; keys in the order in which they were set
  void save(const std::filesystem::path& path) const;

  struct Json;

 private:
  [[noreturn]] void no_choice(std::string_view key, const std::string& value, const std::string& all) const;

  std::string name_ = "config";
  std::shared_ptr<Json> json_;
};

/// The name of an enum value, as choice() reads it.
template <typename Enum>
const std::string& name_of(Enum value, const std::vector<std::pair<std::string, Enum>>& names) {
  for (const auto& [name, meaning] : names)
    if (meaning == value) return name;
  return names.front().first;
}

}  // namespace attend
