// Figures as PNG: for slides, for papers, for wherever SVG is not taken.
#pragma once
#include <string>
#include <vector>

#include "attend/explain/colours.h"
#include "attend/explain/page.h"

namespace attend {

struct Image {
  int width = 0, height = 0;
  std::vector<Colour> pixels;  ///< row by row
};
/// The bytes of a PNG file. Throws Error when the picture is too large to be one.
std::string encode_png(const Image& image);

/// A pixel a cell, in the colours of a heat map. At least one pixel.
Image image_of(const HeatMap& map);

struct PngOptions {
  float scale = 2;  ///< pixels for each of SVG's, of which a panel has 300, or as many as a long text has tokens; of
                    ///< very large figures fewer
};
/// The same figure as to_svg gives, with the fonts of this machine. Throws as check() does.
std::string to_png(const Figure& figure, const PngOptions& options = {});

/// Whether this machine has a font: otherwise a PNG has no labels.
bool has_fonts();

}  // namespace attend
