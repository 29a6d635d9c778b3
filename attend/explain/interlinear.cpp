#include "attend/explain/interlinear.h"

#include <algorithm>
#include <sstream>

#include "attend/core/error.h"
#include "attend/explain/colours.h"

namespace attend {
namespace {

std::vector<std::string> words_of(const std::string& text) {
  std::istringstream stream(text);
  std::vector<std::string> words;
  for (std::string word; stream >> word;) words.push_back(word);
  return words;
}

/// 12 -> ₁₂
std::string small_number(std::size_t number) {
  std::string text;
  for (const char digit : std::to_string(number))
    text += std::string("\xe2\x82") + static_cast<char>(0x80 + digit - '0');
  return text;
}

/// Without the punctuation after it.
std::string bare(std::string word) {
  while (word.size() > 1 && std::string_view(".,;:!?").find(word.back()) != std::string_view::npos) word.pop_back();
  return word;
}

std::string painted(const std::string& text, std::size_t word, bool colour) {
  if (!colour) return text;
  const Colour c = series_colour(word);
  std::ostringstream out;
  out << "\x1b[38;2;" << +c.red << ';' << +c.green << ';' << +c.blue << 'm' << text << "\x1b[0m";
  return out.str();
}

}  // namespace

std::string interlinear(const AlignedTexts& texts, const TerminalOptions& options) {
  const std::vector<std::string> source = words_of(texts.source), target = words_of(texts.target);
  std::vector<std::string> below(source.size());
  auto links = texts.links;
  std::ranges::sort(links, {}, [](const auto& link) { return link.second; });
  for (const auto& [s, t] : links) {
    if (s >= source.size() || t >= target.size())
      fail("interlinear", "a link names word ", s, " of ", source.size(), " and word ", t, " of ", target.size());
    if (!below[s].empty()) below[s] += ' ';
    below[s] += bare(target[t]) + small_number(t + 1);
  }
  std::string out, upper, lower;
  int used = 0;
  const auto flush = [&] {
    const auto trimmed = [](const std::string& line) { return line.substr(0, line.find_last_not_of(' ') + 1); };
    if (used > 0) out += "  " + trimmed(upper) + "\n  " + trimmed(lower) + "\n";
    upper = lower = "", used = 0;
  };
  for (std::size_t i = 0; i < source.size(); ++i) {
    const std::string& over = source[i];
    const std::string under = below[i].empty() ? "·" : below[i];
    const int width = std::max(display_width(over), display_width(under)) + 2;
    if (used + width > options.width) flush();
    const auto pad = [&](const std::string& text) {
      return std::string(static_cast<std::size_t>(width - display_width(text)), ' ');
    };
    upper += painted(over, i, options.colour) + pad(over);
    lower += painted(under, i, options.colour && !below[i].empty()) + pad(under);
    used += width;
  }
  flush();
  return out;
}

}  // namespace attend
