// Bytes as text, as JSON files carry them (RFC 4648).
#pragma once
#include <string>
#include <string_view>

namespace attend {

std::string to_base64(std::string_view bytes);
/// False where the text is not valid.
bool from_base64(std::string_view text, std::string& bytes);

}  // namespace attend
