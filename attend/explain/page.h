// What is shown to people: a page of text, tables and figures, as plain data. Who computes something fills a page and
// knows nothing of how it is drawn; html.h, svg.h and terminal.h draw it.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

namespace attend {

/// Points (x_i, y_i) under one name. Points that are not finite are left out.
struct Series {
  enum class Mark : std::uint8_t { line, dashed, points };
  std::string name;
  std::vector<float> x, y;
  Mark mark = Mark::line;
};

/// Series over common axes.
struct LinePlot {
  std::string title, x_label, y_label;
  std::vector<Series> series;
  bool log_x = false, log_y = false;  ///< then only positive numbers are shown
};

/// A matrix as colours: from white to blue, or from red over white to blue when there are negative values.
struct HeatMap {
  std::string title, x_label, y_label;
  std::int64_t rows = 0, columns = 0;
  std::vector<float> values;                                     ///< row by row
  std::vector<std::string> row_labels = {}, column_labels = {};  ///< empty, or one for each
};

/// Panels side by side, with a line of words below them.
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

struct Page {
  std::string title;
  std::vector<std::variant<Heading, Paragraph, Table, Figure>> blocks;

  void heading(std::string text) { blocks.emplace_back(Heading{std::move(text)}); }
  void say(std::string text) { blocks.emplace_back(Paragraph{std::move(text)}); }
  void show(Table table) { blocks.emplace_back(std::move(table)); }
  void show(Figure figure) { blocks.emplace_back(std::move(figure)); }
};

/// A number for a table: `digits` behind the point.
std::string fixed(double value, int digits);

/// Throws unless every matrix has rows × columns values, every series as many x as y, and every row of a table as many
/// cells as the header: what all who draw rely on.
void check(const Page& page);
void check(const Figure& figure);

}  // namespace attend
