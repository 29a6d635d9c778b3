// The colours of figures, the same in every output. Most colour-blind readers can tell the series apart (Okabe & Ito
// 2008). The heat maps of the pages in web/ have the same colours.
#pragma once
#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>

#include "attend/explain/page.h"

namespace attend {

struct Colour {
  std::uint8_t red, green, blue;
};

/// The colour of series i.
inline Colour series_colour(std::size_t i) {
  constexpr std::array<Colour, 7> kColours = {
      {{0, 114, 178}, {213, 94, 0}, {0, 158, 115}, {204, 121, 167}, {230, 159, 0}, {86, 180, 233}, {90, 90, 90}}};
  return kColours[i % kColours.size()];
}

/// The colours of a map's values: zero is white, HeatMap::full or the largest magnitude is the full colour.
class HeatScale {
 public:
  explicit HeatScale(const HeatMap& map) {
    for (const float value : map.values) {
      if (!std::isfinite(value)) continue;
      most_ = std::max(most_, std::abs(value));
      signed_ |= value < 0;
    }
    if (map.full > 0) most_ = map.full;
  }
  float most() const { return most_; }           ///< the value of the full colour
  bool has_negative() const { return signed_; }  ///< whether the scale goes from -most() to most()

  /// In [-1, 1]; 0 for a value that is not finite.
  float strength(float value) const {
    return std::isfinite(value) && most_ > 0 ? std::clamp(value / most_, -1.f, 1.f) : 0.f;
  }
  Colour colour(float value) const {
    const float s = strength(value);
    const Colour full = s < 0 ? Colour{178, 24, 43} : Colour{5, 48, 97};
    // The square root makes small weights visible: most attention weights are small.
    const float share = std::sqrt(std::abs(s));
    auto mix = [share](std::uint8_t c) { return static_cast<std::uint8_t>(std::lround(255 + (c - 255) * share)); };
    return {mix(full.red), mix(full.green), mix(full.blue)};
  }

 private:
  float most_ = 0;
  bool signed_ = false;
};

}  // namespace attend
