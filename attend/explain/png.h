// Figures as PNG, for programs that do not read SVG.
#pragma once
#include <string>

#include "attend/explain/image.h"
#include "attend/explain/page.h"

namespace attend {

/// Whether this build writes PNG (ATTEND_PICTURES). If not, encode_png and to_png throw Error.
bool has_png();

/// The bytes of a PNG file. Throws Error if the picture is too large for the format.
std::string encode_png(const Image& image);

struct PngOptions {
  float scale = 2;  ///< pixels of PNG for each pixel of SVG; less for very large figures
};
/// The same figure as to_svg, with the installed fonts. Throws as check() does.
std::string to_png(const Figure& figure, const PngOptions& options = {});

/// Whether any font is installed; if not, a PNG has no labels.
bool has_fonts();

}  // namespace attend
