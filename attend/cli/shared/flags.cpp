#include "attend/cli/shared/flags.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <sstream>

#include "attend/core/error.h"

namespace attend::cli {
namespace {

std::vector<std::string> split(const std::string& text, char separator) {
  std::vector<std::string> parts;
  std::istringstream in(text);
  for (std::string part; std::getline(in, part, separator);) parts.push_back(part);
  return parts;
}

template <typename Number>
std::string number_text(Number value) {
  char digits[64];
  return {digits, std::to_chars(digits, digits + sizeof digits, value).ptr};
}

template <typename Number>
void read_number(const std::string& text, Number& value, const char* must) {
  const char *begin = text.data() + (text.starts_with('+') ? 1 : 0), *end = text.data() + text.size();
  Number number{};
  const auto [stop, error] = std::from_chars(begin, end, number);
  bool finite = true;
  if constexpr (std::is_floating_point_v<Number>) finite = std::isfinite(number);
  if (error == std::errc::result_out_of_range) throw std::invalid_argument("is too large or too small: " + text);
  if (error != std::errc() || stop != end || !finite) throw std::invalid_argument(std::string(must) + ", got " + text);
  value = number;
}

constexpr const char* kWholeNumber = "must be a whole number";
constexpr const char* kWholePositive = "must be a whole number, 0 or more";
constexpr const char* kNumber = "must be a number";

/// The name that the user typed, for example --cased and not --lowercase.
const std::string& typed_name(const Flag& flag) {
  if (flag.kind() == Flag::Kind::on_off && flag.given() && flag.values().back() == "false")
    for (const Flag::Name& name : flag.names())
      if (name.negates) return name.text;
  return flag.name();
}

}  // namespace

void read_value(const std::string& text, std::string& value) { value = text; }
void read_value(const std::string& text, std::filesystem::path& value) { value = text; }
void read_value(const std::string& text, int& value) { read_number(text, value, kWholeNumber); }
void read_value(const std::string& text, std::int64_t& value) { read_number(text, value, kWholeNumber); }
void read_value(const std::string& text, std::uint64_t& value) { read_number(text, value, kWholePositive); }
void read_value(const std::string& text, float& value) { read_number(text, value, kNumber); }
void read_value(const std::string& text, double& value) { read_number(text, value, kNumber); }

std::string text_of(const std::string& value) { return value; }
std::string text_of(const std::filesystem::path& value) { return value.string(); }
std::string text_of(int value) { return number_text(value); }
std::string text_of(std::int64_t value) { return number_text(value); }
std::string text_of(std::uint64_t value) { return number_text(value); }
std::string text_of(float value) { return number_text(value); }
std::string text_of(double value) { return number_text(value); }

Flag::Flag(Verb& verb, const std::string& names, std::string help, Kind kind, std::function<void(const Values&)> take)
    : verb_(verb), help_(std::move(help)), kind_(kind), take_(std::move(take)) {
  for (const std::string& name : split(names, ',')) {
    const bool negates = name.starts_with('!');
    names_.push_back({name.substr(negates), negates});
  }
}

Flag* Flag::type_name(std::string name) { return type_name_ = std::move(name), this; }
Flag* Flag::description(std::string help) { return help_ = std::move(help), this; }
Flag* Flag::group(std::string heading) { return group_ = std::move(heading), this; }
Flag* Flag::check(Check check) { return checks_.push_back(std::move(check)), this; }
Flag* Flag::required() { return required_ = true, this; }
Flag* Flag::needs(Flag* other) { return needs_.push_back(other), this; }
Flag* Flag::excludes(Flag* other) {
  excludes_.push_back(other);
  other->excludes_.push_back(this);
  return this;
}
Flag* Flag::excludes(const std::string& other) { return excludes(verb_.get_option(other)); }
Flag* Flag::delimiter(char separator) { return delimiter_ = separator, this; }
Flag* Flag::one_at_a_time() { return one_at_a_time_ = true, this; }
Flag* Flag::optional_value(std::vector<std::string> endings) {
  kind_ = Kind::optional_value;
  endings_ = std::move(endings);
  return this;
}
Flag* Flag::configurable(bool may) { return configurable_ = may, this; }
Flag* Flag::default_value(std::string text) { return default_value_ = std::move(text), this; }
Flag* Flag::default_text(std::string text) {
  default_value_.clear();
  default_text_ = std::move(text);
  return this;
}
Flag* Flag::for_all_verbs() { return for_all_verbs_ = true, this; }

const std::string& Flag::name() const {
  const auto longer = std::ranges::find_if(names_, [](const Name& name) { return name.text.starts_with("--"); });
  return (longer == names_.end() ? names_.front() : *longer).text;
}

bool Flag::has_name(const std::string& name) const {
  return std::ranges::find(names_, name, &Name::text) != names_.end();
}

std::string Flag::default_shown() const { return default_text_.empty() ? default_value_ : default_text_; }

void Flag::give(Values values) {
  values_ = std::move(values);
  given_ = true;
}

void Flag::apply() const {
  Values parts;
  for (const std::string& value : values_) {
    if (delimiter_ == '\0') {
      parts.push_back(value);
      continue;
    }
    for (const std::string& part : split(value, delimiter_)) parts.push_back(part);
  }
  if (kind_ == Kind::value && parts.size() != 1)
    throw UsageError(name(), "takes one value, got " + std::to_string(parts.size()));
  for (const std::string& part : parts)
    for (const Check& check : checks_)
      if (const std::string wrong = check(part); !wrong.empty()) throw UsageError(name(), wrong);
  try {
    take_(parts);
  } catch (const std::invalid_argument& error) {
    throw UsageError(name(), error.what());
  }
}

Verb* Verb::add_subcommand(const std::string& name, const std::string& description) {
  Verb* verb = subcommands_.emplace_back(std::make_unique<Verb>(name, description)).get();
  verb->parent_ = this;
  return verb;
}
Verb* Verb::group(std::string heading) { return group_ = std::move(heading), this; }
Verb* Verb::footer(std::string text) { return footer_ = std::move(text), this; }
Verb* Verb::callback(std::function<void()> work) { return callback_ = std::move(work), this; }
Verb* Verb::check_flags(std::function<void()> check) { return checks_.push_back(std::move(check)), this; }
Verb* Verb::allow_extras() { return allow_extras_ = true, this; }

Flag* Verb::add(const std::string& names, const std::string& help, Flag::Kind kind,
                std::function<void(const Flag::Values&)> take) {
  Verb& owner = flags_of_ ? *flags_of_ : *this;
  Flag* flag = owner.flags_.emplace_back(std::make_unique<Flag>(owner, names, help, kind, std::move(take))).get();
  if (flags_of_) flag->group(name_);
  return flag;
}

Flag* Verb::add_flag_function(const std::string& names, std::function<void(bool)> take, const std::string& help) {
  return add(names, help, Flag::Kind::on_off, [take = std::move(take)](const Flag::Values& values) {
    if (values.back() != "true" && values.back() != "false")
      throw std::invalid_argument("takes no value, got " + values.back());
    if (std::ranges::any_of(values, [&](const std::string& value) { return value != values.back(); }))
      throw std::invalid_argument("is switched both on and off");
    take(values.back() == "true");
  });
}

Flag* Verb::add_flag(const std::string& names, bool& variable, const std::string& help) {
  Flag* flag = add_flag_function(
      names, [&variable](bool on) { variable = on; }, help);
  for (const Flag::Name& name : flag->names())
    if (name.negates) flag->default_text(variable ? flag->name() : name.text);
  return flag;
}

Flag* Verb::add_flag_callback(const std::string& names, const std::function<void()>& call, const std::string& help) {
  return add_flag_function(
      names,
      [call](bool on) {
        if (on) call();
      },
      help);
}

Verb* Verb::add_option_group(const std::string& heading) {
  Verb* group = option_groups_.emplace_back(std::make_unique<Verb>(heading, "")).get();
  group->flags_of_ = this;
  return group;
}

std::string Verb::command() const { return (parent_ ? parent_->command() + " " : "") + name_; }

std::vector<Flag*> Verb::flags() const {
  std::vector<Flag*> all;
  for (const auto& flag : flags_) all.push_back(flag.get());
  return all;
}

std::vector<Flag*> Verb::common_flags() const {
  if (!parent_) return {};
  std::vector<Flag*> all = parent_->common_flags();
  for (const auto& flag : parent_->flags_)
    if (flag->is_for_all_verbs()) all.push_back(flag.get());
  return all;
}

Flag* Verb::find_option(const std::string& name) const {
  const Verb& owner = flags_of_ ? *flags_of_ : *this;
  for (const auto& flag : owner.flags_)
    if (flag->has_name(name)) return flag.get();
  for (Flag* flag : owner.common_flags())
    if (flag->has_name(name)) return flag;
  return nullptr;
}

Flag* Verb::get_option(const std::string& name) const {
  Flag* flag = find_option(name);
  if (!flag) fail("flags", command(), " has no ", name);
  return flag;
}

void Verb::run() const {
  std::vector<std::string> missing;
  for (const auto& flag : flags_)
    if (flag->is_required() && !flag->given())
      missing.push_back(flag->name() + (flag->type_name().empty() ? "" : " " + flag->type_name()));
  std::string all;
  for (std::size_t i = 0; i < missing.size(); ++i)
    all += (i == 0 ? "" : i + 1 == missing.size() ? " and " : ", ") + missing[i];
  if (!missing.empty()) throw UsageError(all + (missing.size() == 1 ? " is missing" : " are missing"));
  for (const auto& flag : flags_) {
    if (!flag->given()) continue;
    for (const Flag* other : flag->needed())
      if (!other->given()) throw UsageError(typed_name(*flag), "needs " + other->name());
    for (const Flag* other : flag->excluded())
      if (other->given())
        throw UsageError(typed_name(*flag) + " and " + typed_name(*other) + " cannot be given together");
  }
  for (const std::function<void()>& check : checks_) check();
  if (callback_) callback_();
}

}  // namespace attend::cli
