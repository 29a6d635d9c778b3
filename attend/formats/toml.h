// A reader for a subset of TOML 1.0, used for recipes: keys with strings, numbers, booleans, and lists of them;
// comments. Tables, dates and multi-line strings are not supported.
#pragma once
#include <string>
#include <string_view>
#include <vector>

namespace attend {

struct TomlEntry {
  std::string key;
  std::vector<std::string> values;  ///< one value, or the elements of a list; strings without quotes, numbers without _
  int line = 0;                     ///< starting at 1
};

/// Reads all entries, in the order of the file. `name` is used in error messages. Throws InputError [toml], with file
/// and line, for syntax errors and duplicate keys.
std::vector<TomlEntry> read_toml(std::string_view text, const std::string& name);

/// Formats a value as TOML: numbers and booleans as they are, everything else as a quoted string.
std::string toml_value(const std::string& value);

}  // namespace attend
