// A picture in memory, and a heat map as a picture.
#pragma once
#include <vector>

#include "attend/explain/colours.h"
#include "attend/explain/page.h"

namespace attend {

struct Image {
  int width = 0, height = 0;
  std::vector<Colour> pixels;  ///< row by row
};

/// One pixel for each cell of the map; at least one pixel.
Image image_of(const HeatMap& map);

}  // namespace attend
