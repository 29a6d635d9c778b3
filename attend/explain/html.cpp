#include "attend/explain/html.h"

#include <algorithm>
#include <sstream>

#include "attend/explain/page_assets.h"
#include "attend/explain/svg.h"

namespace attend {
namespace {

struct BlockWriter {
  std::ostringstream& out;

  void operator()(const Heading& heading) const { out << "<h2>" << escape_markup(heading.text) << "</h2>\n"; }
  void operator()(const Paragraph& paragraph) const { out << "<p>" << escape_markup(paragraph.text) << "</p>\n"; }
  void operator()(const Figure& figure) const { out << "<figure class='drawing'>" << to_svg(figure) << "</figure>\n"; }
  void operator()(const Table& table) const {
    out << "<div class='wide'><table class='numbers'>";
    row("th", table.header);
    for (const std::vector<std::string>& cells : table.rows) row("td", cells);
    out << "</table></div>\n";
  }
  void operator()(const WeightedText& weighted) const {
    out << "<p>";
    for (const WeightedText::Part& part : weighted.parts) {
      for (int i = 0; i < std::min(part.breaks, 2); ++i) out << "<br>";
      out << "<span title='" << fixed(part.weight, 3) << "' style='background:color-mix(in srgb,var(--accent) "
          << fixed(45 * weighted.strength(part), 0) << "%,transparent)'>" << escape_markup(part.text) << "</span> ";
    }
    out << "</p>\n";
  }
  void row(const char* tag, const std::vector<std::string>& cells) const {
    out << "<tr>";
    for (const std::string& cell : cells) out << '<' << tag << '>' << escape_markup(cell) << "</" << tag << '>';
    out << "</tr>\n";
  }
};

}  // namespace

std::string to_html(const Page& page) {
  check(page);
  std::ostringstream out;
  const std::string title = escape_markup(page.title);
  out << "<!doctype html>\n<html lang='en'>\n<head>\n<meta charset='utf-8'>\n"
      << "<meta name='viewport' content='width=device-width,initial-scale=1'>\n<title>" << title << "</title>\n<style>"
      << kPageStyle << "</style>\n</head>\n<body>\n<main class='reading'>\n<h1>" << title << "</h1>\n";
  for (const auto& block : page.blocks) std::visit(BlockWriter{out}, block);
  out << "</main>\n</body>\n</html>\n";
  return out.str();
}

}  // namespace attend
