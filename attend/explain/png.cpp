#include "attend/explain/png.h"

#include <png.h>

#include <algorithm>
#include <cmath>

#include "attend/core/error.h"
#include "attend/explain/lettering.h"
#include "attend/explain/pen.h"

namespace attend {
namespace {

constexpr float kLetters = 12;  // SVG's font-size

class PixelPen : public Pen {
 public:
  PixelPen(FigureSize size, float scale)
      : scale_(scale),
        image_{static_cast<int>(std::ceil(size.width * scale)), static_cast<int>(std::ceil(size.height * scale)), {}},
        lettering_(kLetters * scale) {
    image_.pixels.assign(static_cast<std::size_t>(image_.width) * static_cast<std::size_t>(image_.height),
                         {255, 255, 255});
  }
  const Image& image() const { return image_; }

  void begin_panel(Point at) override { origin_ = at; }
  void end_panel() override { origin_ = {0, 0}; }

  void grid_line(Point from, Point to) override { line({from, to}, {0xdd, 0xdd, 0xdd}, 1); }
  void swatch(const Box& box, Colour colour) override { fill(box, colour); }

  void cells(const HeatMap& map, float side) override {
    const HeatScale scale(map);
    for (std::int64_t r = 0; r < map.rows; ++r)
      for (std::int64_t c = 0; c < map.columns; ++c)
        fill({static_cast<float>(c) * side, static_cast<float>(r) * side, side, side},
             scale.colour(map.values[static_cast<std::size_t>(r * map.columns + c)]));
    const float width = side * static_cast<float>(map.columns), height = side * static_cast<float>(map.rows);
    line({{0, 0}, {width, 0}, {width, height}, {0, height}, {0, 0}}, {0x99, 0x99, 0x99}, 1);
  }

  void stroke(const Stroke& stroke) override {
    const bool dots = stroke.mark == Series::Mark::points;
    for (const std::vector<Point>& points : stroke.lines)
      line(points, stroke.colour, dots ? 5.f : 2.f, dots ? 0.55f : 1.f, stroke.mark == Series::Mark::dashed);
  }

  void label(const Label& label) override {
    const Point at = placed(label.at);
    const float shift = label.anchor == Anchor::start ? 0.f : lettering_.width(label.words, label.bold);
    const float back = label.anchor == Anchor::middle ? shift / 2 : shift;
    const float angle = label.degrees * 3.14159265f / 180;
    const Colour ink = label.muted ? Colour{0x44, 0x44, 0x44} : Colour{0, 0, 0};
    lettering_.write(label.words, at.x - back * std::cos(angle), at.y - back * std::sin(angle), label.degrees,
                     label.bold, [&](int x, int y, float cover) { blend(x, y, ink, cover); });
  }

 private:
  Point placed(Point p) const { return {(p.x + origin_.x) * scale_, (p.y + origin_.y) * scale_}; }

  void blend(int x, int y, Colour colour, float cover) {
    if (x < 0 || y < 0 || x >= image_.width || y >= image_.height) return;
    Colour& pixel =
        image_
            .pixels[static_cast<std::size_t>(y) * static_cast<std::size_t>(image_.width) + static_cast<std::size_t>(x)];
    const auto mix = [cover](std::uint8_t below, std::uint8_t above) {
      return static_cast<std::uint8_t>(
          std::lround(static_cast<float>(below) + (static_cast<float>(above) - static_cast<float>(below)) * cover));
    };
    pixel = {mix(pixel.red, colour.red), mix(pixel.green, colour.green), mix(pixel.blue, colour.blue)};
  }

  /// Edges are rounded to whole pixels, so that neighbouring boxes touch.
  void fill(const Box& box, Colour colour) {
    const Point from = placed({box.x, box.y}), to = placed({box.x + box.width, box.y + box.height});
    for (int y = static_cast<int>(std::lround(from.y)); y < static_cast<int>(std::lround(to.y)); ++y)
      for (int x = static_cast<int>(std::lround(from.x)); x < static_cast<int>(std::lround(to.x)); ++x)
        blend(x, y, colour, 1);
  }

  /// A line with round ends. The coverage of a pixel follows from its distance to the path.
  void line(const std::vector<Point>& points, Colour colour, float width, float opacity = 1, bool dashed = false) {
    if (points.empty()) return;
    const float half = width * scale_ / 2, reach = half + 1;
    Point low = placed(points.front()), high = low;
    for (const Point& point : points) {
      const Point at = placed(point);
      low = {std::min(low.x, at.x), std::min(low.y, at.y)}, high = {std::max(high.x, at.x), std::max(high.y, at.y)};
    }
    const int left = static_cast<int>(std::floor(low.x - reach)), top = static_cast<int>(std::floor(low.y - reach));
    const int columns = static_cast<int>(std::ceil(high.x + reach)) - left + 1;
    const int rows = static_cast<int>(std::ceil(high.y + reach)) - top + 1;
    std::vector<float> cover(static_cast<std::size_t>(columns) * static_cast<std::size_t>(rows));
    float walked = 0;
    for (std::size_t i = points.size() == 1 ? 0 : 1; i < points.size(); ++i) {
      const Point a = placed(points[i == 0 ? 0 : i - 1]), b = placed(points[i]);
      const float dx = b.x - a.x, dy = b.y - a.y, length = std::hypot(dx, dy);
      const auto each = [&](int y, int x) {
        const float px = static_cast<float>(x) + 0.5f - a.x, py = static_cast<float>(y) + 0.5f - a.y;
        const float along = length > 0 ? std::clamp((px * dx + py * dy) / (length * length), 0.f, 1.f) : 0.f;
        if (dashed && std::fmod((walked + along * length) / scale_, 11.f) > 6) return;
        const float away = std::hypot(px - along * dx, py - along * dy);
        float& here = cover[static_cast<std::size_t>(y - top) * static_cast<std::size_t>(columns) +
                            static_cast<std::size_t>(x - left)];
        here = std::max(here, std::clamp(half + 0.5f - away, 0.f, 1.f));
      };
      const int y0 = std::max(top, static_cast<int>(std::floor(std::min(a.y, b.y) - reach)));
      const int y1 = std::min(top + rows - 1, static_cast<int>(std::ceil(std::max(a.y, b.y) + reach)));
      const int x0 = std::max(left, static_cast<int>(std::floor(std::min(a.x, b.x) - reach)));
      const int x1 = std::min(left + columns - 1, static_cast<int>(std::ceil(std::max(a.x, b.x) + reach)));
      for (int y = y0; y <= y1; ++y)
        for (int x = x0; x <= x1; ++x) each(y, x);
      walked += length;
    }
    for (int y = 0; y < rows; ++y)
      for (int x = 0; x < columns; ++x)
        if (const float c =
                cover[static_cast<std::size_t>(y) * static_cast<std::size_t>(columns) + static_cast<std::size_t>(x)];
            c > 0)
          blend(left + x, top + y, colour, c * opacity);
  }

  float scale_;
  Image image_;
  Lettering lettering_;
  Point origin_{0, 0};
};

}  // namespace

std::string encode_png(const Image& image) {
  png_image png{};
  png.version = PNG_IMAGE_VERSION;
  png.width = static_cast<png_uint_32>(image.width), png.height = static_cast<png_uint_32>(image.height);
  png.format = PNG_FORMAT_RGB;
  static_assert(sizeof(Colour) == 3);
  png_alloc_size_t size = 0;
  if (!png_image_write_get_memory_size(png, size, 0, image.pixels.data(), 0, nullptr))
    fail("png", "cannot write a picture of ", image.width, " × ", image.height, " pixels: ", png.message);
  std::string bytes(size, '\0');
  if (!png_image_write_to_memory(&png, bytes.data(), &size, 0, image.pixels.data(), 0, nullptr))
    fail("png", "cannot write a picture of ", image.width, " × ", image.height, " pixels: ", png.message);
  bytes.resize(size);
  return bytes;
}

std::string to_png(const Figure& figure, const PngOptions& options) {
  check(figure);
  const FigureSize size = size_of(figure);
  constexpr float kMost = 30'000;
  // A figure of many panels is drawn smaller, as long as each cell of a map has a pixel.
  const float scale = std::min(options.scale, kMost / std::max(size.width, size.height));
  if (scale < std::min(1.f, options.scale))
    fail<InputError>("png", "the picture is too large: it would have ", std::lround(size.width), " × ",
                     std::lround(size.height), " pixels, expected at most ", kMost, "; draw fewer panels, or SVG");
  PixelPen pen(size, scale);
  draw(figure, pen);
  return encode_png(pen.image());
}

bool has_png() { return true; }
bool has_fonts() { return Lettering(kLetters).has_fonts(); }

}  // namespace attend
