// The explorer's files, inside the program: cmake/explorer.cmake makes them from web/ at build time.
#pragma once
#include <span>
#include <string_view>

namespace attend {

struct Asset {
  std::string_view path;     // as a browser asks for it: "/" is the page, "/app.js" its program
  std::string_view type;     // "text/html; charset=utf-8"
  std::string_view content;  // lives as long as the program
};

/// Every file of the explorer. Empty where npm was missing when the program was built.
std::span<const Asset> assets();

}  // namespace attend
