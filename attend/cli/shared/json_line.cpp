#include "attend/cli/shared/json_line.h"

#include <nlohmann/json.hpp>

namespace attend::cli {
namespace {

std::string dump(const nlohmann::ordered_json& json) {
  return json.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace);
}

}  // namespace

std::string as_line(const nlohmann::ordered_json& json) { return dump(json) + "\n"; }
std::string json_string(const std::string& text) { return dump(text); }

}  // namespace attend::cli
