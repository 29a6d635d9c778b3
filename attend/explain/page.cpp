#include "attend/explain/page.h"

#include <algorithm>
#include <cmath>
#include <iomanip>
#include <sstream>

#include "attend/core/error.h"

namespace attend {
namespace {

void check_panel(const LinePlot& plot) {
  for (const Series& series : plot.series)
    if (series.x.size() != series.y.size())
      fail("figure", "the series \"", series.name, "\" has ", series.x.size(), " x and ", series.y.size(), " y");
}

void check_panel(const HeatMap& map) {
  const auto rows = static_cast<std::size_t>(map.rows), columns = static_cast<std::size_t>(map.columns);
  if (map.values.size() != rows * columns)
    fail("figure", "the map \"", map.title, "\" has ", map.values.size(), " values, expected ", rows, " × ", columns);
  if (!map.row_labels.empty() && map.row_labels.size() != rows)
    fail("figure", "the map \"", map.title, "\" has ", map.row_labels.size(), " labels for ", rows, " rows");
  if (!map.column_labels.empty() && map.column_labels.size() != columns)
    fail("figure", "the map \"", map.title, "\" has ", map.column_labels.size(), " labels for ", columns, " columns");
}

}  // namespace

std::string fixed(double value, int digits) {
  std::ostringstream out;
  out << std::fixed << std::setprecision(digits) << value;
  return out.str();
}

float WeightedText::strength(const Part& part) const {
  float most = 0;
  for (const Part& one : parts) most = std::max(most, one.weight);
  return most > 0 ? part.weight / most : 0.f;
}

void share_scale(Figure& figure) {
  float most = 0;
  for (const auto& panel : figure.panels)
    if (const auto* map = std::get_if<HeatMap>(&panel))
      for (const float value : map->values)
        if (std::isfinite(value)) most = std::max(most, std::abs(value));
  for (auto& panel : figure.panels)
    if (auto* map = std::get_if<HeatMap>(&panel)) map->full = most;
}

void check(const Figure& figure) {
  for (const auto& panel : figure.panels) std::visit([](const auto& p) { check_panel(p); }, panel);
}

void check(const Page& page) {
  for (const auto& block : page.blocks) {
    if (const auto* figure = std::get_if<Figure>(&block)) check(*figure);
    if (const auto* table = std::get_if<Table>(&block))
      for (const std::vector<std::string>& row : table->rows)
        if (row.size() != table->header.size())
          fail("page", "a table has a row of ", row.size(), " cells under a header of ", table->header.size());
  }
}

}  // namespace attend
