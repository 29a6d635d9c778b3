// The verbs of the program and their flags. A verb declares its flags here; command_line.h reads a command line into
// them, and help.h prints them. This header does not include the parser, so that verbs compile fast.
#pragma once
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace attend::cli {

/// The command line is wrong: exit code 2. A verb throws it for flags that cannot be combined.
class UsageError : public std::runtime_error {
 public:
  explicit UsageError(const std::string& what) : std::runtime_error(what) {}
  UsageError(const std::string& flag, const std::string& why) : std::runtime_error(flag + ": " + why) {}
};

/// Returns what is wrong with a value, for example "must be above 0, got -1"; empty if it is valid.
using Check = std::function<std::string(const std::string& value)>;

/// One flag, or one argument without dashes. A verb owns its flags. The setters return the flag, to be chained.
class Flag {
 public:
  using Values = std::vector<std::string>;
  enum class Kind : std::uint8_t {
    value,           ///< --beam 4
    values,          ///< --input a b c
    on_off,          ///< --json
    optional_value,  ///< --attention, or --attention=FILE
  };
  struct Name {
    std::string text;      ///< "--beam", "-n"; without dashes for an argument
    bool negates = false;  ///< of an on_off flag: it sets false
  };

  /// `names`: "-n,--nbest", "--bias,!--no-bias" (the second sets false), or "text" for an argument without dashes.
  Flag(class Verb& verb, const std::string& names, std::string help, Kind kind,
       std::function<void(const Values&)> take);

  Flag* type_name(std::string name);    ///< what the help writes for the value: "N"
  Flag* description(std::string help);  ///< replaces the help
  Flag* group(std::string heading);     ///< the heading in the help; "" hides the flag
  Flag* check(Check check);             ///< of each value
  Flag* required();
  Flag* needs(Flag* other);
  Flag* excludes(Flag* other);               ///< both ways
  Flag* excludes(const std::string& other);  ///< a flag of the same verb that was declared before it
  Flag* delimiter(char separator);
  Flag* one_at_a_time();  ///< the flag takes one value and can be repeated
  /// The value may be left out. The next word is taken as the value only if it has one of these endings.
  Flag* optional_value(std::vector<std::string> endings);
  Flag* configurable(bool may);           ///< whether recipes may set it; otherwise recipe.toml leaves it out
  Flag* default_value(std::string text);  ///< a value as the user would type it; for the help and for recipes
  Flag* default_text(std::string text);   ///< for the help only: "the model's limit"
  Flag* for_all_verbs();                  ///< child verbs have it too

  const std::vector<Name>& names() const { return names_; }
  const std::string& name() const;  ///< the first name with two dashes, otherwise the first name
  bool has_name(const std::string& name) const;
  bool is_argument() const { return !names_.front().text.starts_with('-'); }
  Kind kind() const { return kind_; }
  const std::string& type_name() const { return type_name_; }
  const std::string& help() const { return help_; }
  const std::optional<std::string>& group() const { return group_; }
  bool is_required() const { return required_; }
  bool is_one_at_a_time() const { return one_at_a_time_; }
  bool is_configurable() const { return configurable_; }
  bool is_for_all_verbs() const { return for_all_verbs_; }
  const std::vector<Flag*>& needed() const { return needs_; }
  const std::vector<Flag*>& excluded() const { return excludes_; }
  const std::vector<std::string>& endings() const { return endings_; }
  const std::string& default_value() const { return default_value_; }
  /// The text after "default: " in the help; may be empty.
  std::string default_shown() const;

  /// Whether it was given, on the command line or by a recipe.
  bool given() const { return given_; }
  const Values& values() const { return values_; }
  /// Stores the given values: "true" or "false" for an on_off flag.
  void give(Values values);
  /// Checks the values and sets the verb's variable. Throws UsageError.
  void apply() const;

 private:
  class Verb& verb_;
  std::vector<Name> names_;
  std::string help_, type_name_, default_value_, default_text_;
  std::optional<std::string> group_;
  Kind kind_;
  std::function<void(const Values&)> take_;
  std::vector<Check> checks_;
  std::vector<Flag*> needs_, excludes_;
  std::vector<std::string> endings_;
  char delimiter_ = '\0';
  bool required_ = false, one_at_a_time_ = false, configurable_ = true, for_all_verbs_ = false, given_ = false;
  Values values_;
};

/// Parse a value. They throw std::invalid_argument: "must be a whole number, got 1.5".
void read_value(const std::string& text, std::string& value);
void read_value(const std::string& text, std::filesystem::path& value);
void read_value(const std::string& text, int& value);
void read_value(const std::string& text, std::int64_t& value);
void read_value(const std::string& text, std::uint64_t& value);
void read_value(const std::string& text, float& value);
void read_value(const std::string& text, double& value);

/// A value as the user would type it; "" if it is not set.
std::string text_of(const std::string& value);
std::string text_of(const std::filesystem::path& value);
std::string text_of(int value);
std::string text_of(std::int64_t value);
std::string text_of(std::uint64_t value);
std::string text_of(float value);
std::string text_of(double value);

/// A verb of the program, with its flags and child verbs. The program itself is the root.
class Verb {
 public:
  Verb(std::string name, std::string description) : name_(std::move(name)), description_(std::move(description)) {}
  Verb(const Verb&) = delete;
  Verb& operator=(const Verb&) = delete;

  Verb* add_subcommand(const std::string& name, const std::string& description);
  Verb* group(std::string heading);                ///< under which the help lists the verb; "" hides it
  Verb* footer(std::string text);                  ///< the end of the help
  Verb* callback(std::function<void()> work);      ///< what the verb does
  Verb* check_flags(std::function<void()> check);  ///< called before the work; may throw UsageError
  Verb* allow_extras();                            ///< accepts unknown flags and ignores them

  /// --name VALUE sets a variable, whose current value is the default: a text, a path, a number, or an optional or
  /// vector of these. The variable must live as long as the verb.
  template <typename T>
  Flag* add_option(const std::string& names, T& variable, const std::string& help) {
    if constexpr (kIsVector<T>) {
      return add(names, help, Flag::Kind::values, [&variable](const Flag::Values& texts) {
        variable.clear();
        for (const std::string& text : texts) read_value(text, variable.emplace_back());
      });
    } else if constexpr (kIsOptional<T>) {
      return add(names, help, Flag::Kind::value,
                 [&variable](const Flag::Values& texts) { read_value(texts.front(), variable.emplace()); });
    } else {
      return add(names, help, Flag::Kind::value,
                 [&variable](const Flag::Values& texts) { read_value(texts.front(), variable); })
          ->default_value(text_of(variable));
    }
  }
  /// --name VALUE calls a function with the value, or with a vector of values.
  template <typename T>
  Flag* add_option_function(const std::string& names, std::function<void(const T&)> take, const std::string& help) {
    if constexpr (kIsVector<T>) {
      return add(names, help, Flag::Kind::values, [take = std::move(take)](const Flag::Values& texts) {
        T values;
        for (const std::string& text : texts) read_value(text, values.emplace_back());
        take(values);
      });
    } else {
      return add(names, help, Flag::Kind::value, [take = std::move(take)](const Flag::Values& texts) {
        T value{};
        read_value(texts.front(), value);
        take(value);
      });
    }
  }
  /// --name sets a variable to true. With "!--no-name" among the names, that one sets it to false.
  Flag* add_flag(const std::string& names, bool& variable, const std::string& help);
  Flag* add_flag_function(const std::string& names, std::function<void(bool)> take, const std::string& help);
  Flag* add_flag_callback(const std::string& names, const std::function<void()>& call, const std::string& help);
  /// Flags that are added to the result belong to this verb, under a heading of their own.
  Verb* add_option_group(const std::string& heading);

  const std::string& name() const { return name_; }
  const std::string& description() const { return description_; }
  const std::string& group() const { return group_; }
  const std::string& footer() const { return footer_; }
  bool allows_extras() const { return allow_extras_; }
  bool has_work() const { return callback_ != nullptr; }
  const Verb* parent() const { return parent_; }
  /// "attend train translation".
  std::string command() const;
  const std::vector<std::unique_ptr<Verb>>& subcommands() const { return subcommands_; }
  /// Its own flags, in the order of their declaration.
  std::vector<Flag*> flags() const;
  /// The flags of its parents that are for_all_verbs().
  std::vector<Flag*> common_flags() const;
  /// Null if there is none. `name`: "--beam", "-n" or "text".
  Flag* find_option(const std::string& name) const;
  /// The flag must exist.
  Flag* get_option(const std::string& name) const;

  /// Checks the combination of flags, then calls the callback.
  void run() const;

 private:
  template <typename T>
  struct IsVector : std::false_type {};
  template <typename T>
  struct IsVector<std::vector<T>> : std::true_type {};
  template <typename T>
  static constexpr bool kIsVector = IsVector<T>::value;
  template <typename T>
  struct IsOptional : std::false_type {};
  template <typename T>
  struct IsOptional<std::optional<T>> : std::true_type {};
  template <typename T>
  static constexpr bool kIsOptional = IsOptional<T>::value;

  Flag* add(const std::string& names, const std::string& help, Flag::Kind kind,
            std::function<void(const Flag::Values&)> take);

  std::string name_, description_, group_ = "Verbs", footer_;
  Verb* parent_ = nullptr;
  Verb* flags_of_ = nullptr;  // of an option group: the verb whose flags it adds
  std::vector<std::unique_ptr<Verb>> subcommands_, option_groups_;
  std::vector<std::unique_ptr<Flag>> flags_;
  std::function<void()> callback_;
  std::vector<std::function<void()>> checks_;
  bool allow_extras_ = false;
};

}  // namespace attend::cli
