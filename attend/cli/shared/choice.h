// Flags whose value is one of a list of names, and such lists in messages.
#pragma once
#include <CLI/CLI.hpp>
#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "attend/core/wording.h"

namespace attend::cli {

/// "a, b or c".
inline std::string one_of(const std::vector<std::string>& names) {
  std::string text;
  for (std::size_t i = 0; i < names.size(); ++i)
    text += (i == 0 ? "" : i + 1 == names.size() ? " or " : ", ") + names[i];
  return text;
}

/// --flag NAME, where names stand for values; the value as it is now is the default. The help ends with the names.
template <typename Enum>
CLI::Option* add_choice(CLI::App& app, const std::string& flag, Enum& value,
                        const std::vector<std::pair<std::string, Enum>>& names, const std::string& help = "") {
  std::vector<std::string> all;
  std::string now;
  for (const auto& [name, meaning] : names) {
    all.push_back(name);
    if (meaning == value) now = name;
  }
  // Not a transformer of CLI11's: that forgets the name, which the recipe of a run is to hold.
  return app
      .add_option_function<std::string>(
          flag,
          [&value, names](const std::string& chosen) {
            for (const auto& [name, meaning] : names)
              if (name == chosen) value = meaning;
          },
          (help.empty() ? "" : help + ": ") + one_of(all))
      ->type_name("NAME")
      ->check(CLI::IsMember(all).description(""))
      ->default_str(now);
}

}  // namespace attend::cli
