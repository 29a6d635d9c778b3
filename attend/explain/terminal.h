// A page in a terminal: text, tables, and figures out of characters.
#pragma once
#include <string>
#include <string_view>

#include "attend/explain/page.h"

namespace attend {

struct TerminalOptions {
  int width = 80;       ///< columns
  bool colour = false;  ///< 24-bit colours; otherwise maps are shades, and series are told apart by their marks
};

/// Throws as check() does.
std::string to_terminal(const Page& page, const TerminalOptions& options = {});
std::string to_terminal(const Figure& figure, const TerminalOptions& options = {});

/// What standard output is: its width, and whether it shows colours (a terminal, NO_COLOR not set, TERM not "dumb").
TerminalOptions terminal_of_output();

/// Columns that a text takes: wide characters two, combining marks none.
int display_width(std::string_view text);
/// The text, or as much of its beginning as takes no more columns with "…" behind it.
std::string shortened(const std::string& text, int columns);

}  // namespace attend
