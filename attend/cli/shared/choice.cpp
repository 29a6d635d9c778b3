#include "attend/cli/shared/choice.h"

#include <algorithm>

namespace attend::cli {
namespace {

/// The Levenshtein distance of two words.
std::size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> row(b.size() + 1);
  for (std::size_t j = 0; j <= b.size(); ++j) row[j] = j;
  for (std::size_t i = 1; i <= a.size(); ++i) {
    std::size_t diagonal = row[0];
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t replaced = diagonal + (a[i - 1] != b[j - 1]);
      diagonal = row[j];
      row[j] = std::min({replaced, row[j] + 1, row[j - 1] + 1});
    }
  }
  return row[b.size()];
}

}  // namespace

std::string nearest(const std::string& word, const std::vector<std::string>& names) {
  std::string best;
  std::size_t least = std::max<std::size_t>(word.size() / 2, 1) + 1;
  for (const std::string& name : names) {
    const std::size_t distance = name.starts_with(word) ? 0 : edit_distance(word, name);
    if (distance < least) least = distance, best = name;
  }
  return best;
}

std::string one_of(const std::vector<std::string>& names) {
  std::string text;
  for (std::size_t i = 0; i < names.size(); ++i)
    text += (i == 0 ? "" : i + 1 == names.size() ? " or " : ", ") + names[i];
  return text;
}

Check is_one_of(std::vector<std::string> names) {
  return [names = std::move(names)](const std::string& value) {
    if (std::ranges::find(names, value) != names.end()) return std::string();
    const std::string meant = nearest(value, names);
    return "must be " + one_of(names) + ", got " + value + (meant.empty() ? "" : "; did you mean " + meant + "?");
  };
}

}  // namespace attend::cli
