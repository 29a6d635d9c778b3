// How the recurrent models' choices are written in config.json and on the command line.
#pragma once
#include <string>
#include <utility>
#include <vector>

#include "attend/kernels/recurrent.h"

namespace attend {

inline const std::vector<std::pair<std::string, kernels::Cell>> kCellNames = {{"gru", kernels::Cell::gru},
                                                                              {"lstm", kernels::Cell::lstm}};

/// The name of a choice.
template <typename Enum>
const std::string& name_of(Enum value, const std::vector<std::pair<std::string, Enum>>& names) {
  for (const auto& [name, meaning] : names)
    if (meaning == value) return name;
  return names.front().first;
}

}  // namespace attend
