// A page of text, tables and figures, as plain data. Code that computes results fills a page; html.h, svg.h, png.h and
// terminal.h draw it.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

namespace attend {

/// Points (x_i, y_i) with a name. Points that are not finite are not drawn.
struct Series {
  enum class Mark : std::uint8_t { line, dashed, points };
  std::string name;
  std::vector<float> x, y;
  Mark mark = Mark::line;
};

/// Series with common axes.
struct LinePlot {
  std::string title, x_label, y_label;
  std::vector<Series> series;
  bool log_x = false, log_y = false;  ///< logarithmic axes; only positive numbers are drawn
};

/// A matrix as colours: from white to blue, or from red over white to blue if there are negative values. SVG and PNG
/// add a colour bar.
struct HeatMap {
  std::string title, x_label, y_label;
  std::int64_t rows = 0, columns = 0;
  std::vector<float> values;                                     ///< row by row
  std::vector<std::string> row_labels = {}, column_labels = {};  ///< empty, or one for each row and column
  float full = 0;  ///< the value of the full colour, to give several maps one scale; 0: the largest magnitude here
};

/// Panels side by side, with a caption below them.
struct Figure {
  std::string caption;
  std::vector<std::variant<LinePlot, HeatMap>> panels;
};

/// Cells of text; the first column is aligned left, the others right.
struct Table {
  std::vector<std::string> header;
  std::vector<std::vector<std::string>> rows;
};

struct Heading {
  std::string text;
};
struct Paragraph {
  std::string text;
};

/// A text whose parts have weights from 0 to 1, as shades: the largest weight has the full colour.
struct WeightedText {
  struct Part {
    std::string text;
    float weight = 0;
    int breaks = 0;  ///< line breaks before it: 1 for a new line, 2 for a paragraph
  };
  std::vector<Part> parts;

  /// The weight as a share of the largest one.
  float strength(const Part& part) const;
};

/// Gives all heat maps of a figure one colour scale: the largest magnitude in any of them is the full colour.
void share_scale(Figure& figure);

struct Page {
  std::string title;
  std::vector<std::variant<Heading, Paragraph, Table, Figure, WeightedText>> blocks;

  void heading(std::string text) { blocks.emplace_back(Heading{std::move(text)}); }
  void say(std::string text) { blocks.emplace_back(Paragraph{std::move(text)}); }
  void show(Table table) { blocks.emplace_back(std::move(table)); }
  void show(WeightedText weighted) { blocks.emplace_back(std::move(weighted)); }
  void show(Figure figure) { blocks.emplace_back(std::move(figure)); }
};

/// Formats a number with `digits` decimals.
std::string fixed(double value, int digits);

/// Throws unless every map has rows × columns values, every series has as many x as y, and every row of a table has as
/// many cells as the header.
void check(const Page& page);
void check(const Figure& figure);

}  // namespace attend
