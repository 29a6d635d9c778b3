#include "attend/serve/assets.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>

namespace {

using attend::serve::Asset;
using attend::serve::assets;

const Asset* find(std::string_view path) {
  const auto found = std::ranges::find(assets(), path, &Asset::path);
  return found == assets().end() ? nullptr : &*found;
}

TEST(Assets, ThePageComesWithAllThatItNames) {
  const Asset* page = find("/index.html");
  if (!page) GTEST_SKIP() << "built without the explorer";
  EXPECT_EQ(page->type, "text/html; charset=utf-8");
  for (const Asset& asset : assets()) {
    EXPECT_FALSE(asset.data.empty()) << asset.path;
    EXPECT_FALSE(asset.type.empty()) << asset.path;
  }
  for (const char* file : {"app.js", "app.css", "icon.svg"}) {
    EXPECT_NE(find(std::string("/") + file), nullptr) << file;
    EXPECT_NE(page->data.find(file), std::string_view::npos) << file;
  }
}

TEST(Assets, ThePageMayAskThisServerOnly) {
  const Asset* page = find("/index.html");
  if (!page) GTEST_SKIP() << "built without the explorer";
  EXPECT_NE(page->data.find("default-src 'none'"), std::string_view::npos);
  for (const Asset& asset : assets()) {
    if (asset.type == "image/svg+xml") continue;  // names its namespace
    EXPECT_EQ(asset.data.find("//unpkg."), std::string_view::npos) << asset.path;
    EXPECT_EQ(asset.data.find("//cdn."), std::string_view::npos) << asset.path;
  }
}

}  // namespace
