// config.json and its kin: names and values that describe a model. Every question names its file and key when the
// answer is missing or of another kind.
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
  /// Without keys, to be filled with set().
  Config();
  /// Throws InputError [config] when the file or its folder is missing, or it is no JSON object.
  explicit Config(const std::filesystem::path& path);
  /// The same from text; `name` is for messages.
  static Config parse(std::string_view json, std::string name);

  bool has(std::string_view key) const;  ///< and is not null

  /// The value under a key; without a fallback, one that is missing (or null) throws InputError, and one of another
  /// kind always does.
  std::int64_t integer(std::string_view key, std::optional<std::int64_t> fallback = {}) const;
  /// An integer that also throws when it is below `least` or above `most`: sizes come from strangers.
  std::int64_t integer_in(std::string_view key, std::int64_t least, std::int64_t most,
                          std::optional<std::int64_t> fallback = {}) const;
  double number(std::string_view key, std::optional<double> fallback = {}) const;
  bool flag(std::string_view key, std::optional<bool> fallback = {}) const;
  std::string text(std::string_view key, const std::optional<std::string>& fallback = {}) const;
  std::vector<std::string> texts(std::string_view key) const;      ///< an array of them; empty when missing
  Config object(std::string_view key) const;                       ///< without keys when missing
  std::vector<Config> objects(std::string_view key) const;         ///< an array of them; empty when missing
  std::vector<std::int64_t> integers(std::string_view key) const;  ///< an array, or one alone; empty when missing
  std::vector<std::vector<std::int64_t>> integer_lists(std::string_view key) const;  ///< empty when missing
  std::string json(std::string_view key) const;  ///< a value of whatever kind, as JSON; "null" when missing

  /// One of a list of names, by its place: for enums. Throws InputError naming all of them.
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
  void set(std::string_view key, float value);  ///< as the shortest number that reads back as this float
  void set(std::string_view key, bool value);
  void set(std::string_view key, const std::string& value);
  void set(std::string_view key, const char* value) { set(key, std::string(value)); }
  void set(std::string_view key, const std::vector<std::string>& values);
  void set(std::string_view key, const std::vector<std::int64_t>& values);
  void set(std::string_view key, const std::vector<std::vector<std::int64_t>>& values);
  void set(std::string_view key, const Config& object);

  std::string dump() const;  ///< JSON, indented by two, keys in the order in which they were set
  void save(const std::filesystem::path& path) const;

  struct Json;

 private:
  [[noreturn]] void no_choice(std::string_view key, const std::string& value, const std::string& all) const;

  std::string name_ = "config";
  std::shared_ptr<Json> json_;
};

/// The name of a choice: what choice() reads back.
template <typename Enum>
const std::string& name_of(Enum value, const std::vector<std::pair<std::string, Enum>>& names) {
  for (const auto& [name, meaning] : names)
    if (meaning == value) return name;
  return names.front().first;
}

}  // namespace attend
