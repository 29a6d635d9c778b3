#include "attend/explain/pen.h"

#include <algorithm>
#include <cmath>
#include <iomanip>
#include <sstream>

#include "attend/explain/axis.h"
#include "attend/explain/terminal.h"
#include "attend/text/unicode.h"

namespace attend {
namespace {

// All lengths are in pixels. A panel is a square with room for labels around it.
constexpr float kSide = 300, kLeft = 62, kTop = 18, kRight = 18, kBottom = 52, kLine = 16, kLetter = 7;
constexpr std::size_t kPanelsInARow = 2;  // so that a page shows them in their own size
constexpr float kWidest = 1400;           // of a row of several panels

constexpr int kMostColumns = 24;  // of the label of a row or column, as a terminal counts them
constexpr std::size_t kTitleLines = 3;
constexpr float kLabelled = 18, kMostLabelled = 960;  // a cell with a readable label; a map that grows for its labels

constexpr float kBarGap = 14, kBarWidth = 12, kBarHeight = 200, kBarRoom = 76;  // the colour bar, right of a map
constexpr int kBarSteps = 64;

float width_of(const std::string& label) {
  return kLetter * static_cast<float>(std::min(display_width(label), kMostColumns));
}
float widest(const std::vector<std::string>& labels) {
  float width = 0;
  for (const std::string& label : labels) width = std::max(width, width_of(label));
  return width;
}

/// Two digits that count: 0.42, 0.0042.
std::string significant(float value) {
  std::ostringstream out;
  out << std::setprecision(2) << value;
  return out.str();
}

/// Breaks a text into lines of about so many letters.
std::vector<std::string> wrap(const std::string& text, std::size_t letters) {
  std::vector<std::string> lines;
  std::istringstream words(text);
  for (std::string word; words >> word;)
    if (lines.empty() || static_cast<std::size_t>(count_code_points(lines.back() + word)) + 1 > letters)
      lines.push_back(word);
    else
      lines.back() += ' ' + word;
  return lines;
}

/// The lines of a title in bold letters; of a long one, as much as fits into a few lines.
std::vector<std::string> title_lines(const std::string& title, float side) {
  const int columns = static_cast<int>((side + kRight) / (1.05f * kLetter));
  std::vector<std::string> lines = wrap(title, static_cast<std::size_t>(columns));
  if (lines.size() > kTitleLines) lines.resize(kTitleLines), lines.back() += " …";
  for (std::string& line : lines) line = shortened(line, columns);
  return lines;
}

/// The room for the labels below a map, which are written at an angle of 45°.
float below(const HeatMap& map) { return map.column_labels.empty() ? 18 : 14 + 0.75f * widest(map.column_labels); }

/// The longer side of a panel. A map with labels grows until they are readable, up to a limit. Every cell has at least
/// one pixel.
float side_of(const LinePlot& /*plot*/) { return kSide; }
float side_of(const HeatMap& map) {
  const auto cells = static_cast<float>(std::max(map.rows, map.columns));
  const bool labelled = !map.row_labels.empty() || !map.column_labels.empty();
  return std::max({kSide, cells, labelled ? std::min(kLabelled * cells, kMostLabelled) : 0.f});
}

/// The side of a map's cells.
float cell_of(const HeatMap& map) {
  return side_of(map) / static_cast<float>(std::max<std::int64_t>(std::max(map.rows, map.columns), 1));
}

/// Draws one panel, whose square begins at (0, 0).
class PanelDrawer {
 public:
  PanelDrawer(Pen& pen, float left) : pen_(pen), left_(left) {}

  void operator()(const LinePlot& plot) {
    frame(plot, kSide, kSide, 34);
    const Axis x = Axis::x_of(plot), y = Axis::y_of(plot);
    for (const Axis::Tick& tick : x.ticks()) {
      const float at = tick.at * kSide;
      pen_.grid_line({at, 0}, {at, kSide});
      pen_.label({{at, kSide + 15}, tick.label, Anchor::middle});
    }
    for (const Axis::Tick& tick : y.ticks()) {
      const float at = (1 - tick.at) * kSide;
      pen_.grid_line({0, at}, {kSide, at});
      pen_.label({{-6, at + 4}, tick.label, Anchor::end});
    }
    for (std::size_t i = 0; i < plot.series.size(); ++i) draw(plot.series[i], x, y, series_colour(i));
    float below = kSide + kBottom;
    for (std::size_t i = 0; i < plot.series.size(); ++i, below += kLine) {
      pen_.swatch({0, below - 9, 14, 8}, series_colour(i));
      pen_.label({{20, below}, plot.series[i].name});
    }
  }

  void operator()(const HeatMap& map) {
    const float cell = cell_of(map), height = cell * static_cast<float>(map.rows);
    frame(map, cell * static_cast<float>(map.columns), height, below(map) + kLine);
    pen_.cells(map, cell);
    colour_bar(HeatScale(map), cell * static_cast<float>(map.columns) + kBarGap, std::min(height, kBarHeight));
    const std::int64_t every = std::max<std::int64_t>(1, static_cast<std::int64_t>(std::ceil(13 / cell)));
    for (std::int64_t r = 0; r < std::ssize(map.row_labels); r += every)
      name({-6, (static_cast<float>(r) + 0.5f) * cell + 4}, map.row_labels[static_cast<std::size_t>(r)], Anchor::end,
           0);
    for (std::int64_t c = 0; c < std::ssize(map.column_labels); c += every)
      name({(static_cast<float>(c) + 0.5f) * cell + 3, height + 8}, map.column_labels[static_cast<std::size_t>(c)],
           Anchor::start, 45);
  }

 private:
  /// The colours of a map from top to bottom, with the values that they stand for.
  void colour_bar(const HeatScale& scale, float left, float height) {
    if (scale.most() <= 0) return;
    const float lowest = scale.has_negative() ? -scale.most() : 0.f, range = scale.most() - lowest;
    const float step = height / kBarSteps;
    for (int i = 0; i < kBarSteps; ++i)
      pen_.swatch({left, static_cast<float>(i) * step, kBarWidth, step},
                  scale.colour(scale.most() - range * (static_cast<float>(i) + 0.5f) / kBarSteps));
    const std::vector<float> ticks = height < 3 * kLine ? std::vector{0.f, 1.f} : std::vector{0.f, 0.5f, 1.f};
    for (const float at : ticks)
      pen_.label({{left + kBarWidth + 4, 8 + at * (height - 8)}, significant(scale.most() - range * at)});
  }

  /// The label of a row or column. If it is shortened, its tooltip has the whole text.
  void name(Point at, const std::string& label, Anchor anchor, float degrees) {
    const std::string words = shortened(label, kMostColumns);
    pen_.label({at, words, anchor, degrees, false, false, words == label ? "" : label});
  }

  void frame(const auto& panel, float width, float height, float to_label) {
    const std::string &title = panel.title, &x = panel.x_label, &y = panel.y_label;
    const std::vector<std::string> lines = title_lines(title, side_of(panel));
    for (std::size_t i = 0; i < lines.size(); ++i) {
      const float above = 12 + kLine * static_cast<float>(lines.size() - 1 - i);
      // Only one line has the tooltip, the last one, which ends in "…" if the title is too long.
      pen_.label({{0, -above}, lines[i], Anchor::start, 0, true, false, i + 1 == lines.size() ? title : ""});
    }
    if (!x.empty()) pen_.label({{width / 2, height + to_label}, x, Anchor::middle});
    if (!y.empty()) pen_.label({{18 - left_, height / 2}, y, Anchor::middle, -90});
  }

  void draw(const Series& series, const Axis& x, const Axis& y, Colour colour) {
    Stroke path{{}, colour, series.mark};
    bool pen_down = false;
    for (std::size_t i = 0; i < series.x.size(); ++i) {
      const Point at{x.place(series.x[i]) * kSide, (1 - y.place(series.y[i])) * kSide};
      if (!std::isfinite(at.x) || !std::isfinite(at.y)) {
        pen_down = false;
        continue;
      }
      if (!pen_down) path.lines.emplace_back();
      path.lines.back().push_back(at);
      pen_down = series.mark != Series::Mark::points;
    }
    pen_.stroke(path);
  }

  Pen& pen_;
  float left_;  // the room left of the square
};

/// The room that a panel needs left of its square.
float left_of(const LinePlot& /*plot*/) { return kLeft; }
float left_of(const HeatMap& map) { return std::max(kLeft, 38 + widest(map.row_labels)); }

/// The room right of it: for the colour bar, and for the labels below a map, which lean to the right.
float right_of(const LinePlot& /*plot*/) { return kRight; }
float right_of(const HeatMap& map) {
  float right = kBarRoom, middle = 0.5f * cell_of(map);
  for (const std::string& label : map.column_labels) {
    right = std::max(right, middle + 0.75f * width_of(label) - side_of(map));
    middle += cell_of(map);
  }
  return right;
}

/// The height of a panel from the top of its square, with everything below it.
float height_of(const LinePlot& plot) { return kSide + kBottom + kLine * static_cast<float>(plot.series.size()); }
float height_of(const HeatMap& map) {
  return cell_of(map) * static_cast<float>(map.rows) +
         std::max(kBottom, below(map) + (map.x_label.empty() ? 0 : 2 * kLine));
}

/// The places of the panels of a figure.
struct Layout {
  std::size_t columns;
  float left = kLeft, step = 0, width = 0, height = 0;
  std::vector<float> tops = {};  // of each row of panels
  std::vector<std::string> caption = {};
};

Layout layout_of(const Figure& figure) {
  Layout layout{std::clamp<std::size_t>(figure.panels.size(), 1, kPanelsInARow)};
  float side = kSide, right = kRight;
  for (const auto& panel : figure.panels) {
    side = std::max(side, std::visit([](const auto& p) { return side_of(p); }, panel));
    layout.left = std::max(layout.left, std::visit([](const auto& p) { return left_of(p); }, panel));
    right = std::max(right, std::visit([](const auto& p) { return right_of(p); }, panel));
  }
  layout.step = layout.left + side + right;
  layout.columns = std::min(layout.columns, std::max<std::size_t>(1, static_cast<std::size_t>(kWidest / layout.step)));
  layout.width = layout.step * static_cast<float>(layout.columns);
  for (std::size_t first = 0; first < figure.panels.size(); first += layout.columns) {
    float highest = 0;
    std::size_t lines = 1;
    for (std::size_t i = first; i < std::min(first + layout.columns, figure.panels.size()); ++i) {
      highest = std::max(highest, std::visit([](const auto& p) { return height_of(p); }, figure.panels[i]));
      lines = std::max(
          lines, std::visit([](const auto& p) { return title_lines(p.title, side_of(p)).size(); }, figure.panels[i]));
    }
    layout.tops.push_back(layout.height + kTop + kLine * static_cast<float>(lines));
    layout.height = layout.tops.back() + highest;
  }
  layout.caption = wrap(figure.caption, static_cast<std::size_t>(layout.width / kLetter));
  return layout;
}

}  // namespace

FigureSize size_of(const Figure& figure) {
  const Layout layout = layout_of(figure);
  return {layout.width, layout.height + kLine * static_cast<float>(layout.caption.size()) + 10};
}

void draw(const Figure& figure, Pen& pen) {
  check(figure);
  const Layout layout = layout_of(figure);
  for (std::size_t i = 0; i < figure.panels.size(); ++i) {
    pen.begin_panel(
        {static_cast<float>(i % layout.columns) * layout.step + layout.left, layout.tops[i / layout.columns]});
    std::visit(PanelDrawer(pen, layout.left), figure.panels[i]);
    pen.end_panel();
  }
  float at = layout.height;
  for (const std::string& line : layout.caption) pen.label({{16, at += kLine}, line, Anchor::start, 0, false, true});
}

}  // namespace attend
