#include "attend/serve/assets.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>

namespace {

using attend::Asset;
using attend::assets;

const Asset* find(std::string_view path) {
  const auto found = std::ranges::find(assets(), path, &Asset::path);
  return found == assets().end() ? nullptr : &*found;
}

TEST(Assets, ThePageComesWithAllThatItNames) {
  if (assets().empty()) GTEST_SKIP() << "built without the explorer";
  const Asset* page = find("/");
  ASSERT_NE(page, nullptr);
  EXPECT_EQ(page->type, "text/html; charset=utf-8");
  for (const Asset& asset : assets()) {
    EXPECT_FALSE(asset.content.empty()) << asset.path;
    EXPECT_FALSE(asset.type.empty()) << asset.path;
    if (asset.path != "/") EXPECT_NE(page->content.find(asset.path.substr(1)), std::string_view::npos) << asset.path;
  }
  EXPECT_NE(find("/app.js"), nullptr);
  EXPECT_NE(find("/app.css"), nullptr);
}

TEST(Assets, ThePageMayAskThisServerOnly) {
  if (assets().empty()) GTEST_SKIP() << "built without the explorer";
  EXPECT_NE(find("/")->content.find("default-src 'none'"), std::string_view::npos);
  for (const Asset& asset : assets()) {
    if (asset.type == "image/svg+xml") continue;  // names its namespace
    EXPECT_EQ(asset.content.find("//unpkg."), std::string_view::npos) << asset.path;
    EXPECT_EQ(asset.content.find("//cdn."), std::string_view::npos) << asset.path;
  }
}

}  // namespace
