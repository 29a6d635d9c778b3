#include "attend/cli/shared/choice.h"

#include <algorithm>

namespace attend::cli {

std::string one_of(const std::vector<std::string>& names) {
  std::string text;
  for (std::size_t i = 0; i < names.size(); ++i)
    text += (i == 0 ? "" : i + 1 == names.size() ? " or " : ", ") + names[i];
  return text;
}

Check is_one_of(std::vector<std::string> names) {
  return [names = std::move(names)](const std::string& value) {
    return std::ranges::find(names, value) != names.end() ? "" : "must be " + one_of(names) + ", got " + value;
  };
}

}  // namespace attend::cli
