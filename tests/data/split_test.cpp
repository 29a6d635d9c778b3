// Splits: no leaks, correct sizes, reproducible results.
#include "attend/data/split.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "tests/support/errors.h"

namespace attend {
namespace {

using Parts = std::array<std::vector<std::string>, kParts>;

Parts split(const std::vector<std::string>& sources, SplitOptions options) {
  Parts parts;
  Splitter splitter(options, [&](Part part, const Record& record) {
    parts[static_cast<std::size_t>(part)].push_back(record.source);
  });
  for (const std::string& source : sources) splitter.add({source, "x", 1});
  splitter.finish();
  return parts;
}

/// Some sources are unique, others have variants that differ only in case or punctuation.
std::vector<std::string> sources() {
  std::vector<std::string> all;
  for (int i = 0; i < 5000; ++i) {
    const std::string text = "sentence number " + std::to_string(i);
    all.push_back(text);
    if (i % 3 == 0) all.push_back("Sentence  number " + std::to_string(i) + "!");
    if (i % 7 == 0) all.insert(all.end(), 5, text);
  }
  return all;
}

TEST(Split, ExactSizesAreExact) {
  const Parts parts = split(sources(), {.validation = {0, 300}, .test = {0, 123}});
  EXPECT_EQ(parts[1].size(), 300U);
  EXPECT_EQ(parts[2].size(), 123U);
  EXPECT_EQ(parts[0].size(), sources().size() - 423);
}

TEST(Split, NothingLeaks) {
  for (const SplitOptions& options :
       {SplitOptions{{0, 300}, {0, 123}}, SplitOptions{{0.1, 0}, {0.05, 0}}, SplitOptions{{0.1, 0}, {0, 200}}}) {
    std::map<std::string, std::set<std::size_t>> parts_of_key;
    const Parts parts = split(sources(), options);
    for (std::size_t part = 0; part < kParts; ++part)
      for (const std::string& source : parts[part]) parts_of_key[split_key(source)].insert(part);
    for (const auto& [key, where] : parts_of_key) EXPECT_EQ(where.size(), 1U) << key;
  }
}

TEST(Split, FractionsAreMetApproximately) {
  const Parts parts = split(sources(), {.validation = {0.1, 0}, .test = {0.05, 0}});
  const auto n = static_cast<double>(sources().size());
  EXPECT_NEAR(static_cast<double>(parts[1].size()) / n, 0.1, 0.02);
  EXPECT_NEAR(static_cast<double>(parts[2].size()) / n, 0.05, 0.02);
}

TEST(Split, DependsOnTheSeedAndNotOnTheOrder) {
  const SplitOptions options{.validation = {0, 50}, .test = {0, 50}};
  std::vector<std::string> all = sources();
  const Parts once = split(all, options);
  EXPECT_EQ(split(all, options), once);
  std::reverse(all.begin(), all.end());
  Parts reversed = split(all, options);
  EXPECT_EQ(std::multiset<std::string>(reversed[2].begin(), reversed[2].end()),
            std::multiset<std::string>(once[2].begin(), once[2].end()));
  SplitOptions other = options;
  other.seed = 2;
  EXPECT_NE(split(sources(), other)[2], once[2]);
}

TEST(Split, ASmallCorpusGivesAllItsRecords) {
  const Parts parts = split({"a", "b", "c"}, {.validation = {0, 1}, .test = {0, 1}});
  EXPECT_EQ(parts[0].size(), 1U);
  EXPECT_EQ(split({"a"}, {.validation = {0, 10}, .test = {0, 10}})[2].size(), 1U);
}

TEST(Split, KeysIgnoreCaseAndPunctuationButNotWords) {
  EXPECT_EQ(split_key("Hello, World!"), split_key("hello world"));
  EXPECT_EQ(split_key("\xC3\x88 vero."), split_key("\xC3\xA8 vero"));
  EXPECT_NE(split_key("hello world"), split_key("helloworld"));
  EXPECT_NE(split_key("?!"), split_key("..."));
}

TEST(Split, SizesAreNumbersOrFractions) {
  EXPECT_EQ(parse_part_size("1000").records, 1000);
  EXPECT_DOUBLE_EQ(parse_part_size("5%").share, 0.05);
  EXPECT_DOUBLE_EQ(parse_part_size("0.25").share, 0.25);
  for (const char* wrong : {"", "x", "-1", "100%", "1.5", "5 %", "nan%"})
    EXPECT_ERROR(parse_part_size(wrong), "not the size of a part");
  EXPECT_ERROR(split({}, {.validation = {0.5, 0}, .test = {0.5, 0}}), "nothing is left for training");
}

}  // namespace
}  // namespace attend
