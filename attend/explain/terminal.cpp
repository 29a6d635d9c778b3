#include "attend/explain/terminal.h"

#include <sys/ioctl.h>
#include <unistd.h>
#include <utf8proc.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <iomanip>
#include <sstream>

#include "attend/explain/axis.h"
#include "attend/explain/colours.h"
#include "attend/text/printable.h"
#include "attend/text/unicode.h"

namespace attend {
namespace {

constexpr int kPlotLines = 16;  // lines of text in a plot
constexpr int kMostMapLines = 48;
constexpr int kLeastAcross = 6;  // columns that a cell needs for its label, unless the label is shorter
constexpr int kMostLetters = 8;  // of a label that is written downwards
constexpr int kLeast = 40;       // columns of a picture in a narrow terminal

std::string repeat(std::string_view text, int times) {
  std::string out;
  for (int i = 0; i < times; ++i) out += text;
  return out;
}

/// The text in exactly `width` columns: shortened with "…", or padded on the right.
std::string fit(const std::string& text, int width) {
  const std::string kept = shortened(printable(text), width);
  return kept + std::string(static_cast<std::size_t>(std::max(0, width - display_width(kept))), ' ');
}

std::string fit_right(const std::string& text, int width) {
  const std::string shown = printable(text);
  const int wide = display_width(shown);
  return wide >= width ? fit(shown, width) : std::string(static_cast<std::size_t>(width - wide), ' ') + shown;
}

std::string in_colour(const char* ground, Colour c) {  // "38": of the text, "48": of the background
  std::ostringstream out;
  out << "\x1b[" << ground << ";2;" << +c.red << ';' << +c.green << ';' << +c.blue << 'm';
  return out.str();
}
constexpr const char* kPlain = "\x1b[0m";

/// A grid of dots, 2 × 4 in each character (Unicode's Braille patterns). Each character has one colour.
class Canvas {
 public:
  Canvas(int columns, int lines, bool colour)
      : columns_(columns),
        lines_(lines),
        colour_(colour),
        dots_(static_cast<std::size_t>(columns * lines)),
        series_(dots_.size()) {}

  int width() const { return columns_ * 2; }
  int height() const { return lines_ * 4; }

  void dot(int x, int y, std::size_t series) {
    if (x < 0 || y < 0 || x >= width() || y >= height()) return;
    constexpr int kBits[4][2] = {{0x01, 0x08}, {0x02, 0x10}, {0x04, 0x20}, {0x40, 0x80}};
    const std::size_t cell = cell_at(y / 4, x / 2);
    if (series_[cell] != series) dots_[cell] = 0;  // one colour for each character: the last series wins
    dots_[cell] |= kBits[y % 4][x % 2];
    series_[cell] = series;
  }

  std::string line(int row) const {
    // Without colours, each series has its own character.
    std::string out;
    for (int c = 0; c < columns_; ++c) {
      const std::size_t cell = cell_at(row, c);
      if (dots_[cell] == 0) {
        out += ' ';
      } else if (colour_) {
        out += in_colour("38", series_colour(series_[cell]));
        append_utf8(static_cast<char32_t>(0x2800 + dots_[cell]), out);
        out += kPlain;
      } else {
        out += mark(series_[cell]);
      }
    }
    return out;
  }
  static char mark(std::size_t series) { return "*o+x#@%"[series % 7]; }

 private:
  std::size_t cell_at(int row, int column) const {
    return static_cast<std::size_t>(row) * static_cast<std::size_t>(columns_) + static_cast<std::size_t>(column);
  }

  int columns_, lines_;
  bool colour_;
  std::vector<int> dots_;
  std::vector<std::size_t> series_;
};

class PanelWriter {
 public:
  PanelWriter(std::string& out, const TerminalOptions& options) : out_(out), options_(options) {}

  void operator()(const LinePlot& plot) {
    const Axis x = Axis::x_of(plot), y = Axis::y_of(plot);
    constexpr int kGutter = 9;
    const int columns = std::clamp(options_.width - kGutter - 2, kLeast, 100);
    Canvas canvas(columns, kPlotLines, options_.colour);
    for (std::size_t i = 0; i < plot.series.size(); ++i) draw(plot.series[i], x, y, i, canvas);
    title(plot.title, plot.y_label);
    for (int row = 0; row < kPlotLines; ++row) {
      std::string label;
      for (const Axis::Tick& tick : y.ticks())
        if (static_cast<int>(std::lround((1 - tick.at) * (kPlotLines - 1))) == row) label = tick.label;
      out_ += fit_right(label, kGutter - 2) + (label.empty() ? " │" : " ┤") + canvas.line(row) + '\n';
    }
    out_ += std::string(kGutter - 1, ' ') + "└" + repeat("─", columns) + '\n';
    std::string labels(static_cast<std::size_t>(columns + kGutter + 8), ' ');
    for (const Axis::Tick& tick : x.ticks()) {
      const int at = kGutter + static_cast<int>(std::lround(tick.at * static_cast<float>(columns - 1)));
      const int begin = std::max(0, at - static_cast<int>(tick.label.size()) / 2);
      const auto from = static_cast<std::size_t>(begin);
      if (from + tick.label.size() < labels.size()) labels.replace(from, tick.label.size(), tick.label);
    }
    labels.erase(labels.find_last_not_of(' ') + 1);
    out_ += labels + (plot.x_label.empty() ? "" : "   " + plot.x_label) + '\n';
    for (std::size_t i = 0; i < plot.series.size(); ++i) {
      out_ += std::string(kGutter, ' ');
      out_ += options_.colour ? in_colour("38", series_colour(i)) + "━━" + kPlain : std::string(2, Canvas::mark(i));
      out_ += ' ' + printable(plot.series[i].name) + '\n';
    }
  }

  void operator()(const HeatMap& map) {
    title(map.title, map.y_label);
    if (map.rows == 0 || map.columns == 0) return;
    int gutter = 1;
    for (const std::string& label : map.row_labels) gutter = std::max(gutter, std::min(display_width(label) + 1, 16));
    const int room = std::max(options_.width - gutter - 2, kLeast);
    // If there is room, cells are as wide as their labels. Otherwise a cell has two columns, which looks square, and
    // the labels are written downwards. If there is not even room for that, one column stands for several cells.
    int wanted = 2;
    for (const std::string& label : map.column_labels) wanted = std::max(wanted, std::min(display_width(label) + 1, 9));
    const int columns = static_cast<int>(std::min<std::int64_t>(map.columns, room));
    const int lines = static_cast<int>(std::min<std::int64_t>(map.rows, kMostMapLines));
    const bool across = room / columns >= std::min(wanted, kLeastAcross);
    const int cell = std::clamp(room / columns, 1, across ? wanted : 2);
    if (!map.column_labels.empty() && across) {
      out_ += std::string(static_cast<std::size_t>(gutter + 1), ' ');
      for (const std::string& label : map.column_labels) out_ += fit(label, cell - 1) + ' ';
      out_ += '\n';
    } else if (std::ssize(map.column_labels) == columns) {
      upright(map.column_labels, gutter + 1, cell);
    }
    const HeatScale scale(map);
    for (int r = 0; r < lines; ++r) {
      const std::int64_t first = r * map.rows / lines;
      const bool labelled = !map.row_labels.empty();
      out_ += fit_right(labelled ? map.row_labels[static_cast<std::size_t>(first)] : "", gutter) + ' ';
      for (int c = 0; c < columns; ++c) out_ += shade(scale, strongest(map, r, lines, c, columns), cell);
      out_ += '\n';
    }
    std::ostringstream below;
    below << map.x_label;
    if (scale.most() > 0)
      below << (map.x_label.empty() ? "" : "   ") << "(full colour: " << std::setprecision(2) << scale.most() << ")";
    out_ += std::string(static_cast<std::size_t>(gutter + 1), ' ') + below.str() + '\n';
    if (lines < map.rows || columns < map.columns)
      out_ += std::string(static_cast<std::size_t>(gutter + 1), ' ') + "(" + std::to_string(map.rows) + " × " +
              std::to_string(map.columns) + ", each character shows the largest of several cells)\n";
  }

 private:
  /// Of the cells that share one character, the value with the largest magnitude.
  static float strongest(const HeatMap& map, int r, int lines, int c, int columns) {
    float most = 0;
    for (std::int64_t i = r * map.rows / lines; i < (r + 1) * map.rows / lines; ++i)
      for (std::int64_t j = c * map.columns / columns; j < (c + 1) * map.columns / columns; ++j) {
        const float value = map.values[static_cast<std::size_t>(i * map.columns + j)];
        if (std::abs(value) > std::abs(most)) most = value;
      }
    return most;
  }

  /// Labels of narrow columns, written downwards.
  void upright(const std::vector<std::string>& labels, int indent, int cell) {
    std::vector<std::vector<std::string>> letters;
    std::size_t lines = 0;
    for (const std::string& label : labels) {
      letters.push_back(letters_of(printable(label)));
      if (letters.back().size() > kMostLetters) letters.back().resize(kMostLetters), letters.back().back() = "⋮";
      lines = std::max(lines, letters.back().size());
    }
    for (std::size_t line = 0; line < lines; ++line) {
      std::string text(static_cast<std::size_t>(indent), ' ');
      for (const std::vector<std::string>& label : letters) {
        const std::size_t above = lines - label.size();
        text += fit(line < above ? "" : label[line - above], cell);
      }
      out_ += text.substr(0, text.find_last_not_of(' ') + 1) + '\n';
    }
  }

  /// The letters of a label, each with its combining marks.
  static std::vector<std::string> letters_of(const std::string& label) {
    std::vector<std::string> letters;
    for (std::size_t at = 0; at < label.size();) {
      const auto size = static_cast<std::size_t>(decode_utf8(label, at).size);
      const std::string letter = label.substr(at, size);
      if (display_width(letter) > 0 || letters.empty())
        letters.push_back(letter);
      else
        letters.back() += letter;
      at += size;
    }
    return letters;
  }

  std::string shade(const HeatScale& scale, float value, int width) const {
    if (options_.colour)
      return in_colour("48", scale.colour(value)) + std::string(static_cast<std::size_t>(width), ' ') + kPlain;
    constexpr const char* kShades[] = {" ", "░", "▒", "▓", "█"};
    const float s = scale.strength(value);
    const int level = static_cast<int>(std::lround(4 * std::sqrt(std::abs(s))));
    return repeat(s < 0 && level > 0 ? "-" : kShades[level], width);
  }

  void title(const std::string& words, const std::string& y_label) {
    out_ += '\n' + printable(words) + (y_label.empty() ? "" : "   (" + y_label + ")") + '\n';
  }

  static void draw(const Series& series, const Axis& x, const Axis& y, std::size_t index, Canvas& canvas) {
    auto column = [&](std::size_t i) { return x.place(series.x[i]) * static_cast<float>(canvas.width() - 1); };
    auto row = [&](std::size_t i) { return (1 - y.place(series.y[i])) * static_cast<float>(canvas.height() - 1); };
    for (std::size_t i = 0; i < series.x.size(); ++i) {
      const float x1 = column(i), y1 = row(i);
      if (!std::isfinite(x1) || !std::isfinite(y1)) continue;
      canvas.dot(static_cast<int>(std::lround(x1)), static_cast<int>(std::lround(y1)), index);
      if (i == 0 || series.mark == Series::Mark::points) continue;
      const float x0 = column(i - 1), y0 = row(i - 1);
      if (!std::isfinite(x0) || !std::isfinite(y0)) continue;
      const int steps = static_cast<int>(std::max(std::abs(x1 - x0), std::abs(y1 - y0))) + 1;
      for (int s = 0; s < steps; ++s) {
        if (series.mark == Series::Mark::dashed && static_cast<int>(x0 + y0) / 3 % 2 == 1) continue;
        const float share = static_cast<float>(s) / static_cast<float>(steps);
        canvas.dot(static_cast<int>(std::lround(x0 + (x1 - x0) * share)),
                   static_cast<int>(std::lround(y0 + (y1 - y0) * share)), index);
      }
    }
  }

  std::string& out_;
  const TerminalOptions& options_;
};

struct BlockWriter {
  std::string& out;
  const TerminalOptions& options;

  void operator()(const Heading& heading) const {
    out += '\n' + (options.colour ? "\x1b[1m" + printable(heading.text) + kPlain : printable(heading.text)) + '\n';
  }

  void operator()(const Paragraph& paragraph) const { wrap(paragraph.text, 0); }

  /// A line for each part: its weight, a bar, and the text.
  void operator()(const WeightedText& weighted) const {
    constexpr int kBar = 4, kIndent = 4 + 1 + kBar + 1;
    for (const WeightedText::Part& part : weighted.parts) {  // each begins a line
      if (part.breaks > 1) out += '\n';
      const int full = static_cast<int>(std::lround(static_cast<float>(kBar) * weighted.strength(part)));
      const std::string bar = repeat("█", full) + repeat(" ", kBar - full);
      out +=
          fixed(part.weight, 2) + ' ' + (options.colour ? in_colour("38", series_colour(0)) + bar + kPlain : bar) + ' ';
      wrap(part.text, kIndent);
    }
  }

  /// Wraps the text at the terminal's width. The first line is already indented.
  void wrap(const std::string& text, int indent) const {
    std::istringstream words(printable(text));
    int used = 0;
    for (std::string word; words >> word;) {
      const int wide = display_width(word);
      if (used > 0 && indent + used + 1 + wide > options.width) out += '\n' + repeat(" ", indent), used = 0;
      if (used > 0) out += ' ', ++used;
      out += word, used += wide;
    }
    out += '\n';
  }

  void operator()(const Table& table) const {
    std::vector<int> widths;
    auto widen = [&](const std::vector<std::string>& row) {
      widths.resize(std::max(widths.size(), row.size()));
      for (std::size_t c = 0; c < row.size(); ++c) widths[c] = std::max(widths[c], display_width(row[c]));
    };
    auto print = [&](const std::vector<std::string>& row) {
      for (std::size_t c = 0; c < row.size(); ++c)
        out += c == 0 ? "  " + fit(row[c], widths[c]) : "  " + fit_right(row[c], widths[c]);
      out += '\n';
    };
    widen(table.header);
    for (const std::vector<std::string>& row : table.rows) widen(row);
    out += '\n';
    print(table.header);
    out += "  ";
    for (std::size_t c = 0; c < widths.size(); ++c) out += (c ? "  " : "") + repeat("─", widths[c]);
    out += '\n';
    for (const std::vector<std::string>& row : table.rows) print(row);
    out += '\n';
  }

  void operator()(const Figure& figure) const {
    for (const auto& panel : figure.panels) std::visit(PanelWriter(out, options), panel);
    if (!figure.caption.empty()) (*this)(Paragraph{figure.caption});
    out += '\n';
  }
};

}  // namespace

std::string to_terminal(const Page& page, const TerminalOptions& options) {
  check(page);
  std::string out;
  const BlockWriter write{out, options};
  if (!page.title.empty()) write(Heading{page.title}), out += '\n';
  for (const auto& block : page.blocks) std::visit(write, block);
  return out;
}

std::string to_terminal(const Figure& figure, const TerminalOptions& options) {
  check(figure);
  std::string out;
  BlockWriter{out, options}(figure);
  return out;
}

TerminalOptions terminal_of_output() {
  TerminalOptions options;
  if (!isatty(STDOUT_FILENO)) return options;
  winsize size{};
  if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0) options.width = size.ws_col;
  const char* const no_colour = std::getenv("NO_COLOR");
  const char* const kind = std::getenv("TERM");
  options.colour = (!no_colour || !*no_colour) && kind && std::string_view(kind) != "dumb";
  return options;
}

std::string shortened(const std::string& text, int columns) {
  if (display_width(text) <= columns) return text;
  std::size_t end = 0;
  for (int used = 0; end < text.size();) {
    const auto size = static_cast<std::size_t>(decode_utf8(text, end).size);
    used += display_width(std::string_view(text).substr(end, size));
    if (used > columns - 1) break;
    end += size;
  }
  return text.substr(0, end) + "…";
}

int display_width(std::string_view text) {
  int width = 0;
  for (std::size_t at = 0; at < text.size();) {
    const CodePoint code = decode_utf8(text, at);
    width += utf8proc_charwidth(static_cast<utf8proc_int32_t>(code.value));
    at += static_cast<std::size_t>(code.size);
  }
  return width;
}

}  // namespace attend
