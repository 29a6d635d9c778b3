#include "attend/explain/svg.h"

#include <cstdio>
#include <sstream>

#include "attend/explain/pen.h"
#include "attend/explain/png.h"
#include "attend/text/base64.h"

namespace attend {
namespace {

/// Up to this many cells, each cell of a map is an element with a tooltip. A larger map becomes a PNG image with one
/// pixel for each cell, if this build writes PNG: the elements of a long text would take a hundred megabytes.
constexpr std::int64_t kMostCells = 40'000;

std::string hex(Colour c) {
  char text[8];
  std::snprintf(text, sizeof text, "#%02x%02x%02x", c.red, c.green, c.blue);
  return text;
}

class SvgPen : public Pen {
 public:
  void begin_panel(Point at) override { out_ << "<g transform='translate(" << at.x << ',' << at.y << ")'>"; }
  void end_panel() override { out_ << "</g>\n"; }

  void grid_line(Point from, Point to) override {
    out_ << "<path d='M" << from.x << ',' << from.y << 'L' << to.x << ',' << to.y << "' class='grid'/>";
  }

  void swatch(const Box& box, Colour colour) override {
    out_ << "<rect x='" << box.x << "' y='" << box.y << "' width='" << box.width << "' height='" << box.height
         << (box.height > 6 ? "' rx='2" : "") << "' fill='" << hex(colour) << "'/>";
  }

  void cells(const HeatMap& map, float side) override {
    const float width = side * static_cast<float>(map.columns), height = side * static_cast<float>(map.rows);
    if (map.rows * map.columns > kMostCells && has_png()) {
      out_ << "<image width='" << width << "' height='" << height
           << "' preserveAspectRatio='none' style='image-rendering:pixelated' href='data:image/png;base64,"
           << to_base64(encode_png(image_of(map))) << "'/>";
    } else {
      const HeatScale scale(map);
      for (std::int64_t r = 0; r < map.rows; ++r)
        for (std::int64_t c = 0; c < map.columns; ++c) {
          const float value = map.values[static_cast<std::size_t>(r * map.columns + c)];
          const std::string colour = hex(scale.colour(value));
          if (colour == "#ffffff") continue;
          out_ << "<rect x='" << static_cast<float>(c) * side << "' y='" << static_cast<float>(r) * side << "' width='"
               << side << "' height='" << side << "' fill='" << colour << "'><title>" << name(map.row_labels, r) << ", "
               << name(map.column_labels, c) << ": " << value << "</title></rect>";
        }
    }
    out_ << "<rect width='" << width << "' height='" << height << "' class='frame'/>";
  }

  void stroke(const Stroke& stroke) override {
    std::string path;
    for (const std::vector<Point>& line : stroke.lines)
      for (std::size_t i = 0; i < line.size(); ++i) {
        char point[48];
        std::snprintf(point, sizeof point, "%c%.1f,%.1f", i == 0 ? 'M' : 'L', line[i].x, line[i].y);
        path += point;
        if (stroke.mark == Series::Mark::points) path += "h0";  // a line of no length: its round ends are a dot
      }
    out_ << "<path d='" << path << "' fill='none' stroke='" << hex(stroke.colour)
         << "' stroke-linecap='round' stroke-width='"
         << (stroke.mark == Series::Mark::points ? "5' opacity='0.55" : "2")
         << (stroke.mark == Series::Mark::dashed ? "' stroke-dasharray='6 5" : "") << "'/>";
  }

  void label(const Label& label) override {
    constexpr const char* kAnchors[] = {"start", "middle", "end"};
    if (label.degrees == 0)
      out_ << "<text x='" << label.at.x << "' y='" << label.at.y << '\'';
    else
      out_ << "<text transform='translate(" << label.at.x << ',' << label.at.y << ") rotate(" << label.degrees << ")'";
    if (label.anchor != Anchor::start) out_ << " text-anchor='" << kAnchors[static_cast<int>(label.anchor)] << '\'';
    if (label.bold) out_ << " font-weight='bold'";
    if (label.muted) out_ << " fill='#444'";
    out_ << '>' << escape_markup(label.words);
    if (!label.tooltip.empty()) out_ << "<title>" << escape_markup(label.tooltip) << "</title>";
    out_ << "</text>" << (label.muted ? "\n" : "");
  }

  std::string elements() const { return out_.str(); }

 private:
  static std::string name(const std::vector<std::string>& labels, std::int64_t i) {
    return labels.empty() ? std::to_string(i) : escape_markup(labels[static_cast<std::size_t>(i)]);
  }

  std::ostringstream out_;
};

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
  SvgPen pen;
  draw(figure, pen);
  const FigureSize size = size_of(figure);
  std::ostringstream out;
  out << "<svg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 " << size.width << ' ' << size.height << "' width='"
      << size.width << "' font-family='system-ui,sans-serif' font-size='12'>\n<style>.grid{stroke:#ddd;fill:none}"
      << ".frame{stroke:#999;fill:none}rect{shape-rendering:crispEdges}</style>\n"
      << "<rect width='100%' height='100%' fill='white'/>\n"
      << pen.elements() << "</svg>\n";
  return out.str();
}

}  // namespace attend
