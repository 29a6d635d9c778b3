// Splits: nothing leaks, sizes are met, the same comes out again. And the hashes they stand on, and the writer.
#include "attend/data/split.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "attend/data/writer.h"
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

/// Some sources come alone, some with variants that differ in writing only.
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

TEST(Split, SharesAreNearlyMet) {
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

TEST(Split, ASmallCorpusGivesWhatItHas) {
  const Parts parts = split({"a", "b", "c"}, {.validation = {0, 1}, .test = {0, 1}});
  EXPECT_EQ(parts[0].size(), 1U);
  EXPECT_EQ(split({"a"}, {.validation = {0, 10}, .test = {0, 10}})[2].size(), 1U);
}

TEST(Split, KeysForgetWritingButNotWords) {
  EXPECT_EQ(split_key("Hello, World!"), split_key("hello world"));
  EXPECT_EQ(split_key("\xC3\x88 vero."), split_key("\xC3\xA8 vero"));
  EXPECT_NE(split_key("hello world"), split_key("helloworld"));
  EXPECT_NE(split_key("?!"), split_key("..."));
}

TEST(Split, SizesAreNumbersOrShares) {
  EXPECT_EQ(parse_part_size("1000").records, 1000);
  EXPECT_DOUBLE_EQ(parse_part_size("5%").share, 0.05);
  EXPECT_DOUBLE_EQ(parse_part_size("0.25").share, 0.25);
  for (const char* wrong : {"", "x", "-1", "100%", "1.5", "5 %", "nan%"})
    EXPECT_ERROR(parse_part_size(wrong), "not the size of a part");
  EXPECT_ERROR(split({}, {.validation = {0.5, 0}, .test = {0.5, 0}}), "nothing is left for training");
}

TEST(Hash, TellsTextsAndPairsApart) {
  std::set<std::pair<std::uint64_t, std::uint64_t>> seen;
  std::set<std::uint64_t> high, low;
  const auto add = [&](Hash128 hash) {
    seen.insert({hash.high, hash.low}), high.insert(hash.high), low.insert(hash.low);
  };
  for (int i = 0; i < 20'000; ++i) add(hash_text(std::to_string(i)));
  for (std::size_t n = 0; n < 100; ++n) add(hash_text(std::string(n, '\0')));
  add(hash_pair("ab", "c")), add(hash_pair("a", "bc")), add(hash_pair("c", "ab")), add(hash_pair("", "abc"));
  EXPECT_EQ(seen.size(), 20'104U);
  EXPECT_EQ(high.size(), 20'104U);  // either half would do for so few
  EXPECT_EQ(low.size(), 20'104U);
  EXPECT_NE(hash_text("a", 1), hash_text("a", 2));
}

TEST(Hash, EachBitOfATextChangesHalfOfTheHash) {
  const std::string text = "the quick brown fox jumps";
  const Hash128 base = hash_text(text);
  for (std::size_t bit = 0; bit < 8 * text.size(); ++bit) {
    std::string other = text;
    other[bit / 8] = static_cast<char>(other[bit / 8] ^ (1 << bit % 8));
    const Hash128 hash = hash_text(other);
    const int changed = __builtin_popcountll(hash.high ^ base.high) + __builtin_popcountll(hash.low ^ base.low);
    EXPECT_NEAR(changed, 64, 32) << bit;
  }
}

TEST(Hash, ASetKnowsWhatItHas) {
  HashSet set;
  for (int i = 0; i < 10'000; ++i) EXPECT_TRUE(set.insert(hash_text(std::to_string(i))));
  for (int i = 0; i < 10'000; ++i) EXPECT_FALSE(set.insert(hash_text(std::to_string(i))));
  EXPECT_EQ(set.size(), 10'000);
  EXPECT_TRUE(set.insert({}));
  EXPECT_FALSE(set.insert({}));
}

std::vector<std::string> written(WriteFormat format, bool has_targets, const std::vector<Record>& records) {
  std::vector<std::string> texts(format == WriteFormat::lines && has_targets ? 2 : 1);
  std::vector<CorpusWriter::Sink> sinks;
  for (std::string& text : texts) sinks.emplace_back([&text](std::string_view piece) { text += piece; });
  CorpusWriter writer(format, has_targets, sinks);
  for (const Record& record : records) writer.write(record);
  return texts;
}

TEST(Writer, WritesEachFormat) {
  const std::vector<Record> records = {{"a \"b\"", "x\ty", 1}, {"c", "d\ne", 2}};
  using Texts = std::vector<std::string>;
  EXPECT_EQ(written(WriteFormat::tsv, true, records), (Texts{"a \"b\"\tx y\nc\td e\n"}));
  EXPECT_EQ(written(WriteFormat::tsv, false, records), (Texts{"a \"b\"\nc\n"}));
  EXPECT_EQ(written(WriteFormat::lines, true, records), (Texts{"a \"b\"\nc\n", "x\ty\nd e\n"}));
  EXPECT_EQ(written(WriteFormat::json_lines, true, records),
            (Texts{"{\"source\":\"a \\\"b\\\"\",\"target\":\"x\\ty\"}\n{\"source\":\"c\",\"target\":\"d\\ne\"}\n"}));
  EXPECT_ERROR(CorpusWriter(WriteFormat::lines, true, {[](std::string_view) {}}), "got 1, expected 2");
}

TEST(Writer, CountsTextsThatItHadToFlatten) {
  CorpusWriter writer(WriteFormat::tsv, true, {[](std::string_view) {}});
  writer.write({"a\nb\nc", "d\te", 1});
  writer.write({"a", "b", 2});
  EXPECT_EQ(writer.flattened(), 2);
  EXPECT_EQ(writer.records(), 2);
}

}  // namespace
}  // namespace attend
