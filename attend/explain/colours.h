// The colours of figures: told apart by most colour-blind people (after Okabe & Ito 2008), the same in every output.
#pragma once
#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <span>

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

/// How a matrix becomes colours: its largest magnitude is the full colour, zero is white.
class HeatScale {
 public:
  explicit HeatScale(std::span<const float> values) {
    for (const float value : values)
      if (std::isfinite(value)) most_ = std::max(most_, std::abs(value));
  }
  /// In [-1, 1]; 0 for what is not finite.
  float strength(float value) const { return std::isfinite(value) && most_ > 0 ? value / most_ : 0.f; }
  Colour colour(float value) const {
    const float s = strength(value);
    const Colour full = s < 0 ? Colour{178, 24, 43} : Colour{5, 48, 97};
    // The root makes small weights visible: attention is mostly small weights.
    const float share = std::sqrt(std::abs(s));
    auto mix = [share](std::uint8_t c) { return static_cast<std::uint8_t>(std::lround(255 + (c - 255) * share)); };
    return {mix(full.red), mix(full.green), mix(full.blue)};
  }

 private:
  float most_ = 0;
};

}  // namespace attend
