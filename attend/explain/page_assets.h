// The styles and the script of the HTML pages: the files in attend/explain/assets/, which are part of the library.
// They are built from web/src ("npm run page" in web/).
#pragma once
#include <string_view>

namespace attend {

extern const std::string_view kPageStyle;                         ///< the look that all pages share
extern const std::string_view kAttentionStyle, kAttentionScript;  ///< of attention pages; the style includes kPageStyle

}  // namespace attend
