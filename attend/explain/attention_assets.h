// The style and the script of pages with attention: attend/explain/assets/, read into the library when it is built.
#pragma once
#include <string_view>

namespace attend {

extern const std::string_view kAttentionStyle, kAttentionScript;

}  // namespace attend
