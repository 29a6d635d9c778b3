#include "attend/explain/image.h"

#include <algorithm>

namespace attend {

Image image_of(const HeatMap& map) {
  const HeatScale scale(map);
  Image image{static_cast<int>(std::max<std::int64_t>(map.columns, 1)),
              static_cast<int>(std::max<std::int64_t>(map.rows, 1)),
              {}};
  for (const float value : map.values) image.pixels.push_back(scale.colour(value));
  image.pixels.resize(static_cast<std::size_t>(image.width) * static_cast<std::size_t>(image.height), {255, 255, 255});
  return image;
}

}  // namespace attend
