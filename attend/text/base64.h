// Base64 (RFC 4648), which JSON files use for bytes.
#pragma once
#include <string>
#include <string_view>

namespace attend {

std::string to_base64(std::string_view bytes);
/// Returns false if the text is not valid.
bool from_base64(std::string_view text, std::string& bytes);

}  // namespace attend
