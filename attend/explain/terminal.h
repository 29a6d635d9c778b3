// A page in a terminal: text, tables, and figures made of characters.
#pragma once
#include <string>
#include <string_view>

#include "attend/explain/page.h"

namespace attend {

struct TerminalOptions {
  int width = 80;       ///< columns
  bool colour = false;  ///< 24-bit colours; without them, maps use shade characters and series different characters
};

/// Throws as check() does.
std::string to_terminal(const Page& page, const TerminalOptions& options = {});
std::string to_terminal(const Figure& figure, const TerminalOptions& options = {});

/// The options for standard output: its width, and colours if it is a terminal, NO_COLOR is not set and TERM is not
/// "dumb".
TerminalOptions terminal_of_output();

/// The width of a text in columns: a wide character has two, a combining mark none.
int display_width(std::string_view text);
/// The text, or, if it is too wide, its beginning and "…".
std::string shortened(const std::string& text, int columns);

}  // namespace attend
