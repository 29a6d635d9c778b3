#include <algorithm>
#include <charconv>
#include <cmath>
#include <vector>

#include "attend/text/grammar/json_expressions.h"

namespace attend {
namespace {

using Natural = std::uint64_t;
constexpr int kMostDigits = 15;  // different decimals of so many digits are different doubles

Natural power_of_ten(int digits) {
  Natural power = 1;
  for (int i = 0; i < digits; ++i) power *= 10;
  return power;
}

std::string terminal(std::string_view digits) { return std::string(1, '"').append(digits) + '"'; }

std::string any_digits(std::size_t count) { return count == 0 ? "\"\"" : "[0-9]{" + std::to_string(count) + "}"; }

std::string digit_between(char first, char last) {
  return first == last ? terminal({&first, 1}) : std::string("[") + first + "-" + last + "]";
}

std::string joined(const std::vector<std::string>& alternatives) {
  std::string all;
  for (const std::string& one : alternatives) all += (all.empty() ? "" : " | ") + one;
  return "(" + all + ")";
}

/// Digits of one length, from `low` to `high`.
std::string digits_between(std::string_view low, std::string_view high) {
  if (low.empty()) return "\"\"";
  const auto all = [](std::string_view digits, char c) { return digits.find_first_not_of(c) == digits.npos; };
  if (all(low, '0') && all(high, '9')) return any_digits(low.size());
  const std::string_view low_rest = low.substr(1), high_rest = high.substr(1);
  if (low[0] == high[0]) return terminal(low.substr(0, 1)) + " " + digits_between(low_rest, high_rest);
  std::vector<std::string> alternatives;
  char first = low[0], last = high[0];
  if (!all(low_rest, '0'))
    alternatives.push_back(terminal({&low[0], 1}) + " " + digits_between(low_rest, std::string(low_rest.size(), '9'))),
        ++first;
  std::string at_most;
  if (!all(high_rest, '9'))
    at_most = terminal({&high[0], 1}) + " " + digits_between(std::string(high_rest.size(), '0'), high_rest), --last;
  if (first <= last) alternatives.push_back(digit_between(first, last) + " " + any_digits(low_rest.size()));
  if (!at_most.empty()) alternatives.push_back(at_most);
  return joined(alternatives);
}

/// Digits after the point, of which zeros at the end may be left out, from `low` to `high`.
std::string fraction_between(std::string_view low, std::string_view high) {
  const auto all = [](std::string_view digits, char c) { return digits.find_first_not_of(c) == digits.npos; };
  if (all(low, '0') && all(high, '9')) return "[0-9]{1," + std::to_string(low.size()) + "}";
  const auto rest = [&](std::string_view from, std::string_view to) -> std::string {
    if (from.empty()) return "";
    const std::string digits = " " + fraction_between(from, to);
    return all(from, '0') ? " (" + digits + ")?" : digits;
  };
  const std::string_view low_rest = low.substr(1), high_rest = high.substr(1);
  const std::string zeros(low_rest.size(), '0'), nines(low_rest.size(), '9');
  if (low[0] == high[0]) return terminal(low.substr(0, 1)) + rest(low_rest, high_rest);
  std::vector<std::string> alternatives;
  char first = low[0], last = high[0];
  if (!all(low_rest, '0')) alternatives.push_back(terminal(low.substr(0, 1)) + rest(low_rest, nines)), ++first;
  std::string at_most;
  if (!all(high_rest, '9')) at_most = terminal(high.substr(0, 1)) + rest(zeros, high_rest), --last;
  if (first <= last) alternatives.push_back(digit_between(first, last) + rest(zeros, nines));
  if (!at_most.empty()) alternatives.push_back(at_most);
  return joined(alternatives);
}

/// Natural numbers from `low` to `high`, without leading zeros.
std::string naturals(Natural low, Natural high) {
  std::vector<std::string> alternatives;
  const auto digits = [](Natural n) { return static_cast<int>(std::to_string(n).size()); };
  for (int length = digits(low); length <= digits(high); ++length) {
    const Natural first = length == 1 ? 0 : power_of_ten(length - 1);
    const Natural last = length >= 19 ? high : power_of_ten(length) - 1;
    alternatives.push_back(digits_between(std::to_string(std::max(low, first)), std::to_string(std::min(high, last))));
  }
  return joined(alternatives);
}

Natural magnitude(std::int64_t value) {
  return value < 0 ? Natural{0} - static_cast<Natural>(value) : static_cast<Natural>(value);
}

/// k / 10^digits for k from `low` to `high`.
std::string decimals(Natural low, Natural high, int digits) {
  if (digits == 0) return naturals(low, high);
  const Natural unit = power_of_ten(digits);
  const auto fraction = [&](Natural from, Natural to) {
    const auto padded = [&](Natural n) {
      const std::string text = std::to_string(n);
      return std::string(static_cast<std::size_t>(digits) - text.size(), '0') + text;
    };
    const std::string between = "\".\" " + fraction_between(padded(from), padded(to));
    return from == 0 ? "(" + between + ")?" : between;
  };
  const Natural first = low / unit, last = high / unit;
  if (first == last) return terminal(std::to_string(first)) + " " + fraction(low % unit, high % unit);
  std::vector<std::string> alternatives{terminal(std::to_string(first)) + " " + fraction(low % unit, unit - 1)};
  if (last - first > 1)
    alternatives.push_back(naturals(first + 1, last - 1) + " (\".\" [0-9]{1," + std::to_string(digits) + "})?");
  alternatives.push_back(terminal(std::to_string(last)) + " " + fraction(0, high % unit));
  return joined(alternatives);
}

/// The decimal number with these digits after the point that is next to a value, upwards or downwards, times
/// 10^digits.
std::int64_t scaled(const NumberBound& bound, int digits, bool up) {
  char text[512];
  const auto [end, error] = std::to_chars(text, text + sizeof text, std::abs(bound.value), std::chars_format::fixed);
  std::string whole(text, end), fraction;
  if (const std::size_t point = whole.find('.'); point != whole.npos)
    fraction = whole.substr(point + 1), whole.resize(point);
  const auto kept = static_cast<std::size_t>(digits);
  const bool exact = fraction.size() <= kept || fraction.find_first_not_of('0', kept) == fraction.npos;
  fraction.resize(kept, '0');
  const std::string all = whole + fraction;
  std::int64_t value = 0;
  std::from_chars(all.data(), all.data() + all.size(), value);
  const bool negative = std::signbit(bound.value);
  if (negative) value = -value;
  // Digits were cut towards zero.
  if (!exact) return value + (up && !negative ? 1 : 0) - (!up && negative ? 1 : 0);
  return value + (bound.exclusive ? (up ? 1 : -1) : 0);
}

/// From low to high, of which both may be negative.
template <typename F>
std::string with_sign(std::int64_t low, std::int64_t high, F&& naturals_between) {
  std::vector<std::string> alternatives;
  if (low < 0)
    alternatives.push_back("\"-\" " + naturals_between(magnitude(std::min<std::int64_t>(high, -1)), magnitude(low)));
  if (high >= 0)
    alternatives.push_back(
        naturals_between(static_cast<Natural>(std::max<std::int64_t>(low, 0)), static_cast<Natural>(high)));
  return joined(alternatives);
}

}  // namespace

std::string integer_expression(std::optional<std::int64_t> least, std::optional<std::int64_t> most) {
  const auto usual = static_cast<std::int64_t>(power_of_ten(kMostDigits) - 1);
  const auto largest = static_cast<std::int64_t>(power_of_ten(18) - 1);
  if (!least && !most) return "\"-\"? (\"0\" | [1-9] [0-9]{0,14})";
  const std::int64_t low = least.value_or(most.value_or(0) < -usual ? -largest : -usual);
  const std::int64_t high = most.value_or(least.value_or(0) > usual ? largest : usual);
  if (low > high) return "[]";
  return with_sign(low, high, naturals);
}

std::optional<std::string> number_expression(std::optional<NumberBound> least, std::optional<NumberBound> most) {
  constexpr double kLargest = 1e14;
  if (least && least->value < -kLargest) least.reset();
  if (most && most->value > kLargest) most.reset();
  if ((least && least->value > kLargest) || (most && most->value < -kLargest)) return {};
  if (!least && !most) return "\"-\"? (\"0\" | [1-9] [0-9]{0,14}) (\".\" [0-9]{1,15})? ([eE] [-+]? [0-9]{1,2})?";
  // Digits before the point: one more than the bounds have, so that there is room beyond a single one.
  const double largest = std::max(least ? std::abs(least->value) : 0, most ? std::abs(most->value) : 0);
  int whole = 9;
  while (whole < kMostDigits && static_cast<double>(power_of_ten(whole - 1)) <= largest) ++whole;
  const int digits = std::min(6, kMostDigits - whole);
  const auto limit = static_cast<std::int64_t>(power_of_ten(whole + digits) - 1);
  const std::int64_t low = least ? scaled(*least, digits, true) : -limit;
  const std::int64_t high = most ? scaled(*most, digits, false) : limit;
  if (low > high) return "[]";
  return with_sign(low, high, [&](Natural from, Natural to) { return decimals(from, to, digits); });
}

}  // namespace attend
