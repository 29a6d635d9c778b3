// The flat part of TOML 1.0, which recipes are written in: keys with strings, numbers, truth values, and lists of them;
// comments. Tables, dates and strings of several lines are refused.
#pragma once
#include <string>
#include <string_view>
#include <vector>

namespace attend {

struct TomlEntry {
  std::string key;
  std::vector<std::string> values;  ///< one, unless it is a list; as text: strings without quotes, numbers without _
  int line = 0;                     ///< counted from 1
};

/// In the order of the file. Throws InputError [toml] that says file, line, and what was expected; a key that appears
/// twice is one too. `name` is the file's, for messages.
std::vector<TomlEntry> read_toml(std::string_view text, const std::string& name);

/// A value as a recipe writes it: numbers and truth values bare, all else as a string.
std::string toml_value(const std::string& value);

}  // namespace attend
