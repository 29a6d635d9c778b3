#include "attend/explain/html.h"

#include <sstream>

#include "attend/explain/svg.h"

namespace attend {
namespace {

constexpr const char* kStyle = R"(
body{font:16px/1.55 system-ui,sans-serif;max-width:62rem;margin:2.5rem auto;padding:0 1rem;color:#222;background:#fff}
h1{font-size:1.6rem}h2{font-size:1.2rem;margin-top:2rem}
figure{margin:1.2rem 0;overflow-x:auto}svg{max-width:100%;height:auto}
table{border-collapse:collapse;margin:1rem 0}th,td{padding:.25rem .8rem;border-bottom:1px solid #ddd;text-align:right}
th:first-child,td:first-child{text-align:left}td{font-variant-numeric:tabular-nums}
)";

struct BlockWriter {
  std::ostringstream& out;

  void operator()(const Heading& heading) const { out << "<h2>" << escape_markup(heading.text) << "</h2>\n"; }
  void operator()(const Paragraph& paragraph) const { out << "<p>" << escape_markup(paragraph.text) << "</p>\n"; }
  void operator()(const Figure& figure) const { out << "<figure>" << to_svg(figure) << "</figure>\n"; }
  void operator()(const Table& table) const {
    out << "<table>";
    row("th", table.header);
    for (const std::vector<std::string>& cells : table.rows) row("td", cells);
    out << "</table>\n";
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
      << kStyle << "</style>\n</head>\n<body>\n<h1>" << title << "</h1>\n";
  for (const auto& block : page.blocks) std::visit(BlockWriter{out}, block);
  out << "</body>\n</html>\n";
  return out.str();
}

}  // namespace attend
