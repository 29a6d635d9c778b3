// Files that are part of the program: the explorer (web/) and the description of the API.
#pragma once
#include <span>
#include <string_view>

namespace attend::serve {

struct Asset {
  std::string_view path;  ///< "/index.html"
  std::string_view type;  ///< "text/html; charset=utf-8"
  std::string_view data;
};

/// All files. With ATTEND_EXPLORER=OFF there is no explorer. cmake/explorer.cmake makes the source.
std::span<const Asset> assets();
/// The file of a path, or null. "/" is "/index.html".
const Asset* find_asset(std::string_view path);

}  // namespace attend::serve
