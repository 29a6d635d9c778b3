#include "attend/serve/assets.h"

namespace attend::serve {

const Asset* find_asset(std::string_view path) {
  if (path == "/") path = "/index.html";
  for (const Asset& asset : assets())
    if (asset.path == path) return &asset;
  return nullptr;
}

}  // namespace attend::serve
