// Figures as PNG: for slides, for papers, for whatever does not read SVG.
#pragma once
#include <string>

#include "attend/explain/image.h"
#include "attend/explain/page.h"

namespace attend {

/// Whether this build writes PNG: ATTEND_PICTURES can be switched off. Without it, encode_png and to_png throw Error.
bool has_png();

/// The bytes of a PNG file. Throws Error when the picture is too large to be one.
std::string encode_png(const Image& image);

struct PngOptions {
  float scale = 2;  ///< pixels for each of SVG's, of which a panel has 300, or as many as a long text has tokens; of
                    ///< very large figures fewer
};
/// The same figure as to_svg gives, with the fonts of this machine. Throws as check() does.
std::string to_png(const Figure& figure, const PngOptions& options = {});

/// Whether this machine has a font: otherwise a PNG has no labels.
bool has_fonts();

}  // namespace attend
