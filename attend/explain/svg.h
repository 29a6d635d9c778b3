// Figures as SVG: for papers, for a browser, for a README.
#pragma once
#include <string>
#include <string_view>

#include "attend/explain/page.h"

namespace attend {

/// A whole SVG document, or an <svg> element for an HTML page (they are the same). Throws as check() does.
std::string to_svg(const Figure& figure);

/// &, <, > and quotes as entities; control characters that XML forbids are dropped.
std::string escape_markup(std::string_view text);

}  // namespace attend
