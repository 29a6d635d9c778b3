// Makes text from files and models safe for a terminal: an escape sequence in a label or a token could otherwise clear
// the screen, hide text or change the title of the window.
#pragma once
#include <string>
#include <string_view>

namespace attend {

/// The text with each control character but tab and line feed, and each invalid UTF-8 byte, written as \x1B.
std::string printable(std::string_view text);

}  // namespace attend
