// Expressions of GBNF for parts of JSON: numbers within bounds, strings that match a pattern or have a format.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace attend {

/// The integers from `least` to `most`, as JSON. Without a bound, those of 15 digits at most.
std::string integer_expression(std::optional<std::int64_t> least, std::optional<std::int64_t> most);

struct NumberBound {
  double value = 0;
  bool exclusive = false;
};
/// Decimal numbers within bounds, as JSON. None if a bound has too many digits.
std::optional<std::string> number_expression(std::optional<NumberBound> least, std::optional<NumberBound> most);

/// What stands between the quotes of a JSON string that matches a regular expression of ECMA-262. Uses the rule "char".
/// Throws InputError [pattern] for what is not regular or not supported.
std::string pattern_expression(std::string_view pattern);

/// The same for a format of JSON Schema, or none if it is not supported.
std::optional<std::string> format_expression(std::string_view format);

}  // namespace attend
