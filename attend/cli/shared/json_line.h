// One JSON object as one line of output.
#pragma once
#include <nlohmann/json.hpp>
#include <string>

namespace attend::cli {

/// With a line end. Bytes that are no valid UTF-8 become U+FFFD: texts and names may hold any bytes.
inline std::string as_line(const nlohmann::ordered_json& json) {
  return json.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace) + "\n";
}

}  // namespace attend::cli
