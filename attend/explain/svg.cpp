#include "attend/explain/svg.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <sstream>

#include "attend/explain/axis.h"
#include "attend/explain/colours.h"
#include "attend/text/unicode.h"

namespace attend {
namespace {

// A panel is a square with room for labels around it; all in pixels.
constexpr float kSide = 300, kLeft = 62, kTop = 34, kRight = 18, kBottom = 52, kLine = 16, kLetter = 7;
constexpr std::size_t kPanelsInARow = 3;

std::string hex(Colour c) {
  char text[8];
  std::snprintf(text, sizeof text, "#%02x%02x%02x", c.red, c.green, c.blue);
  return text;
}

float width_of(const std::string& label) { return kLetter * static_cast<float>(count_code_points(label)); }
float widest(const std::vector<std::string>& labels) {
  float width = 0;
  for (const std::string& label : labels) width = std::max(width, width_of(label));
  return width;
}

/// What fits over a panel in bold letters.
std::string shortened(const std::string& title) {
  constexpr auto kMost = static_cast<std::size_t>((kSide + kRight) / (1.05f * kLetter));
  if (static_cast<std::size_t>(count_code_points(title)) <= kMost) return title;
  std::size_t end = 0;
  for (std::size_t letters = 0; letters + 1 < kMost; ++letters)
    end += static_cast<std::size_t>(decode_utf8(title, end).size);
  return title.substr(0, end) + "…";
}

/// The room that the labels below a map take: they are written at half a right angle.
float below(const HeatMap& map) { return map.column_labels.empty() ? 18 : 14 + 0.75f * widest(map.column_labels); }

/// The side of a map's cells.
float cell_of(const HeatMap& map) {
  return kSide / static_cast<float>(std::max<std::int64_t>(std::max(map.rows, map.columns), 1));
}

/// Writes the elements of one panel, whose square begins at (0, 0).
class PanelWriter {
 public:
  PanelWriter(std::ostringstream& out, float left) : out_(out), left_(left) {}

  void operator()(const LinePlot& plot) {
    frame(plot.title, plot.x_label, plot.y_label, kSide, 34);
    const Axis x = Axis::x_of(plot), y = Axis::y_of(plot);
    for (const Axis::Tick& tick : x.ticks()) {
      const float at = tick.at * kSide;
      out_ << "<path d='M" << at << ",0V" << kSide << "' class='grid'/>";
      text(at, kSide + 15, "middle", tick.label);
    }
    for (const Axis::Tick& tick : y.ticks()) {
      const float at = (1 - tick.at) * kSide;
      out_ << "<path d='M0," << at << "H" << kSide << "' class='grid'/>";
      text(-6, at + 4, "end", tick.label);
    }
    for (std::size_t i = 0; i < plot.series.size(); ++i) draw(plot.series[i], x, y, hex(series_colour(i)));
    float below = kSide + kBottom;
    for (std::size_t i = 0; i < plot.series.size(); ++i, below += kLine) {
      out_ << "<rect x='0' y='" << below - 9 << "' width='14' height='8' rx='2' fill='" << hex(series_colour(i))
           << "'/>";
      text(20, below, "start", plot.series[i].name);
    }
  }

  void operator()(const HeatMap& map) {
    const float cell = cell_of(map);
    const float width = cell * static_cast<float>(map.columns), height = cell * static_cast<float>(map.rows);
    frame(map.title, map.x_label, map.y_label, height, below(map) + kLine);
    const HeatScale scale(map.values);
    for (std::int64_t r = 0; r < map.rows; ++r)
      for (std::int64_t c = 0; c < map.columns; ++c) {
        const float value = map.values[static_cast<std::size_t>(r * map.columns + c)];
        const std::string colour = hex(scale.colour(value));
        if (colour == "#ffffff") continue;
        out_ << "<rect x='" << static_cast<float>(c) * cell << "' y='" << static_cast<float>(r) * cell << "' width='"
             << cell << "' height='" << cell << "' fill='" << colour << "'><title>" << name(map.row_labels, r) << ", "
             << name(map.column_labels, c) << ": " << value << "</title></rect>";
      }
    out_ << "<rect width='" << width << "' height='" << height << "' class='frame'/>";
    const std::int64_t every = std::max<std::int64_t>(1, static_cast<std::int64_t>(std::ceil(13 / cell)));
    for (std::int64_t r = 0; r < static_cast<std::int64_t>(map.row_labels.size()); r += every)
      text(-6, (static_cast<float>(r) + 0.5f) * cell + 4, "end", map.row_labels[static_cast<std::size_t>(r)]);
    for (std::int64_t c = 0; c < static_cast<std::int64_t>(map.column_labels.size()); c += every) {
      const float at = (static_cast<float>(c) + 0.5f) * cell;
      out_ << "<text transform='translate(" << at + 3 << ',' << height + 8 << ") rotate(45)'>"
           << escape_markup(map.column_labels[static_cast<std::size_t>(c)]) << "</text>";
    }
  }

 private:
  static std::string name(const std::vector<std::string>& labels, std::int64_t i) {
    return labels.empty() ? std::to_string(i) : escape_markup(labels[static_cast<std::size_t>(i)]);
  }

  void text(float x, float y, const char* anchor, const std::string& words) {
    out_ << "<text x='" << x << "' y='" << y << "' text-anchor='" << anchor << "'>" << escape_markup(words)
         << "</text>";
  }

  void frame(const std::string& title, const std::string& x_label, const std::string& y_label, float height,
             float to_label) {
    if (!title.empty())
      out_ << "<text x='0' y='-12' font-weight='bold'>" << escape_markup(shortened(title)) << "<title>"
           << escape_markup(title) << "</title></text>";
    text(kSide / 2, height + to_label, "middle", x_label);
    out_ << "<text transform='translate(" << 18 - left_ << ',' << height / 2 << ") rotate(-90)' text-anchor='middle'>"
         << escape_markup(y_label) << "</text>";
  }

  void draw(const Series& series, const Axis& x, const Axis& y, const std::string& colour) {
    std::string path;
    bool pen_down = false;
    for (std::size_t i = 0; i < series.x.size(); ++i) {
      const float px = x.place(series.x[i]) * kSide, py = (1 - y.place(series.y[i])) * kSide;
      if (!std::isfinite(px) || !std::isfinite(py)) {
        pen_down = false;
        continue;
      }
      char point[48];
      std::snprintf(point, sizeof point, "%c%.1f,%.1f", pen_down ? 'L' : 'M', px, py);
      path += point;
      if (series.mark == Series::Mark::points) path += "h0";  // a line of no length: its round ends are a dot
      pen_down = series.mark != Series::Mark::points;
    }
    out_ << "<path d='" << path << "' fill='none' stroke='" << colour << "' stroke-linecap='round' stroke-width='"
         << (series.mark == Series::Mark::points ? "5' opacity='0.55" : "2")
         << (series.mark == Series::Mark::dashed ? "' stroke-dasharray='6 5" : "") << "'/>";
  }

  std::ostringstream& out_;
  float left_;  // the room left of the square
};

/// The room that a panel needs left of its square.
float left_of(const LinePlot& /*plot*/) { return kLeft; }
float left_of(const HeatMap& map) { return std::max(kLeft, 30 + widest(map.row_labels)); }

/// And right of it: the labels below a map lean out.
float right_of(const LinePlot& /*plot*/) { return kRight; }
float right_of(const HeatMap& map) {
  float right = kRight, middle = 0.5f * cell_of(map);
  for (const std::string& label : map.column_labels) {
    right = std::max(right, middle + 0.75f * width_of(label) - kSide);
    middle += cell_of(map);
  }
  return right;
}

/// How high a panel is below its top, with everything that it writes.
float height_of(const LinePlot& plot) { return kSide + kBottom + kLine * static_cast<float>(plot.series.size()); }
float height_of(const HeatMap& map) {
  return cell_of(map) * static_cast<float>(map.rows) +
         std::max(kBottom, below(map) + (map.x_label.empty() ? 0 : 2 * kLine));
}

/// Words in lines of about so many letters.
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

}  // namespace

std::string escape_markup(std::string_view text) {
  std::string out;
  for (const char c : text) {
    switch (c) {
      case '&':
        out += "&amp;";
        break;
      case '<':
        out += "&lt;";
        break;
      case '>':
        out += "&gt;";
        break;
      case '"':
        out += "&quot;";
        break;
      case '\'':
        out += "&#39;";
        break;
      default:
        if (static_cast<unsigned char>(c) >= 0x20 || c == '\n' || c == '\t') out += c;
    }
  }
  return out;
}

std::string to_svg(const Figure& figure) {
  check(figure);
  const std::size_t columns = std::clamp<std::size_t>(figure.panels.size(), 1, kPanelsInARow);
  float left = kLeft, right = kRight;
  for (const auto& panel : figure.panels) {
    left = std::max(left, std::visit([](const auto& p) { return left_of(p); }, panel));
    right = std::max(right, std::visit([](const auto& p) { return right_of(p); }, panel));
  }
  const float step = left + kSide + right, width = step * static_cast<float>(columns);
  std::ostringstream panels;
  float height = 0;
  for (std::size_t first = 0; first < figure.panels.size(); first += columns) {
    float highest = 0;
    for (std::size_t i = first; i < std::min(first + columns, figure.panels.size()); ++i) {
      highest = std::max(highest, std::visit([](const auto& p) { return height_of(p); }, figure.panels[i]));
      panels << "<g transform='translate(" << static_cast<float>(i - first) * step + left << ',' << height + kTop
             << ")'>";
      std::visit(PanelWriter(panels, left), figure.panels[i]);
      panels << "</g>\n";
    }
    height += highest + kTop;
  }
  for (const std::string& line : wrap(figure.caption, static_cast<std::size_t>(width / kLetter))) {
    height += kLine;
    panels << "<text x='16' y='" << height << "' fill='#444'>" << escape_markup(line) << "</text>\n";
  }
  height += 10;
  std::ostringstream out;
  out << "<svg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 " << width << ' ' << height << "' width='" << width
      << "' font-family='system-ui,sans-serif' font-size='12'>\n<style>.grid{stroke:#ddd;fill:none}"
      << ".frame{stroke:#999;fill:none}rect{shape-rendering:crispEdges}</style>\n"
      << "<rect width='100%' height='100%' fill='white'/>\n"
      << panels.str() << "</svg>\n";
  return out.str();
}

}  // namespace attend
