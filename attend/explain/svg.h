// Figures as SVG, for browsers, papers and READMEs.
#pragma once
#include <string>
#include <string_view>

#include "attend/explain/page.h"

namespace attend {

/// An SVG document, which can also be an <svg> element of an HTML page. Throws as check() does.
std::string to_svg(const Figure& figure);

/// Escapes &, <, > and quotes, and drops control characters that XML forbids.
std::string escape_markup(std::string_view text);

}  // namespace attend
