// Formats numbers and lists for messages: "12,000 pairs", "en, it, de".
#pragma once
#include <algorithm>
#include <concepts>
#include <string>
#include <vector>

namespace attend {

/// 12345678 -> "12,345,678".
template <std::integral Number>
std::string grouped(Number number) {
  std::string digits = std::to_string(number);
  const std::size_t first = digits.front() == '-' ? 1 : 0;
  for (std::size_t at = digits.size(); at > first + 3;) digits.insert(at -= 3, 1, ',');
  return digits;
}

/// "1 line", "12,000 lines".
template <std::integral Number>
std::string counted(Number count, const std::string& noun) {
  return grouped(count) + " " + noun + (count == 1 ? "" : "s");
}

/// Lists the first ten names: "a, b, c, …".
inline std::string listed(const std::vector<std::string>& names) {
  constexpr std::size_t kMost = 10;
  std::string text;
  for (std::size_t i = 0; i < std::min(names.size(), kMost); ++i) text += (i == 0 ? "" : ", ") + names[i];
  return text + (names.size() > kMost ? ", …" : "");
}

}  // namespace attend
