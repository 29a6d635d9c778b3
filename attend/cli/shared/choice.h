// Flags whose value is one of a list of names.
#pragma once
#include <string>
#include <utility>
#include <vector>

#include "attend/cli/shared/flags.h"
#include "attend/core/wording.h"

namespace attend::cli {

/// The name that was probably meant by a mistyped word; empty if none is similar.
std::string nearest(const std::string& word, const std::vector<std::string>& names);

/// "a, b or c".
std::string one_of(const std::vector<std::string>& names);

/// The value must be one of these names.
Check is_one_of(std::vector<std::string> names);

/// --flag NAME, where each name stands for a value. The current value is the default; an empty std::optional has none.
/// The help ends with the list of names.
template <typename Target, typename Enum = Target>
Flag* add_choice(Verb& verb, const std::string& flag, Target& target,
                 const std::vector<std::pair<std::string, std::type_identity_t<Enum>>>& names,
                 const std::string& help = "") {
  std::vector<std::string> all;
  std::string now;
  for (const auto& [name, meaning] : names) {
    all.push_back(name);
    if (target == meaning) now = name;
  }
  const auto take = [&target, names](const std::string& chosen) {
    for (const auto& [name, meaning] : names)
      if (name == chosen) target = meaning;
  };
  return verb.add_option_function<std::string>(flag, take, (help.empty() ? "" : help + ": ") + one_of(all))
      ->type_name("NAME")
      ->check(is_one_of(all))
      ->default_value(now);
}

}  // namespace attend::cli
