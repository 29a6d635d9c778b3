// How figures are drawn, whatever on: the layout is here once, and svg.cpp and png.cpp are pens that follow it.
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "attend/explain/colours.h"
#include "attend/explain/page.h"

namespace attend {

struct Point {
  float x, y;
};
struct Box {
  float x, y, width, height;
};
enum class Anchor : std::uint8_t { start, middle, end };

/// Words at a place. The place is on their base line.
struct Label {
  Point at;
  std::string words;
  Anchor anchor = Anchor::start;
  float degrees = 0;  ///< clockwise, around the place
  bool bold = false;
  bool muted = false;
  std::string tooltip = {};
};

/// A path: lines through the points, which are several where the path is broken.
struct Stroke {
  std::vector<std::vector<Point>> lines;
  Colour colour;
  Series::Mark mark = Series::Mark::line;
};

/// All in pixels; a panel's own begin where it does.
class Pen {
 public:
  virtual ~Pen() = default;
  virtual void begin_panel(Point at) = 0;
  virtual void end_panel() = 0;
  virtual void grid_line(Point from, Point to) = 0;
  virtual void swatch(const Box& box, Colour colour) = 0;  ///< of a legend
  virtual void cells(const HeatMap& map, float side) = 0;  ///< from (0, 0), with a frame around them
  virtual void stroke(const Stroke& stroke) = 0;
  virtual void label(const Label& label) = 0;
};

struct FigureSize {
  float width, height;
};
FigureSize size_of(const Figure& figure);
/// Throws as check() does.
void draw(const Figure& figure, Pen& pen);

}  // namespace attend
