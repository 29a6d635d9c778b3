// The layout of figures. It is here once; svg.cpp and png.cpp implement the Pen that draws it.
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

/// A text at a point on its base line.
struct Label {
  Point at;
  std::string words;
  Anchor anchor = Anchor::start;
  float degrees = 0;  ///< clockwise rotation around the point
  bool bold = false;
  bool muted = false;
  std::string tooltip = {};
};

/// A path of one or more lines, each through its points.
struct Stroke {
  std::vector<std::vector<Point>> lines;
  Colour colour;
  Series::Mark mark = Series::Mark::line;
};

/// All lengths are in pixels. Inside a panel, (0, 0) is the panel's top left corner.
class Pen {
 public:
  virtual ~Pen() = default;
  virtual void begin_panel(Point at) = 0;
  virtual void end_panel() = 0;
  virtual void grid_line(Point from, Point to) = 0;
  virtual void swatch(const Box& box, Colour colour) = 0;  ///< a colour of a legend
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
