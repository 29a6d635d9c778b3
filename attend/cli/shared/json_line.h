// One JSON object as one line of output. The writer is compiled once, in json_line.cpp.
#pragma once
#include <nlohmann/json_fwd.hpp>
#include <string>

namespace attend::cli {

/// The JSON with a line end. Bytes that are not valid UTF-8 become U+FFFD, since texts and names may hold any bytes.
std::string as_line(const nlohmann::ordered_json& json);
/// A text as a JSON string, in quotes.
std::string json_string(const std::string& text);

}  // namespace attend::cli
