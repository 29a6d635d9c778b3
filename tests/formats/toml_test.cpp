#include "attend/formats/toml.h"

#include <gtest/gtest.h>

#include "tests/support/errors.h"

namespace attend {
namespace {

using Values = std::vector<std::string>;

TEST(Toml, ReadsStringsNumbersBooleansAndLists) {
  const std::vector<TomlEntry> entries = read_toml(
      "\xEF\xBB\xBF# a recipe\r\n"
      "batch-tokens = 2_048  # with a comment\n"
      "\n"
      "rate=-1.5e-3\n"
      "resume = true\n"
      "\ttrain = \"a # b = \\\"c\\\"\\t\\\\.tsv\"\n"
      "'odd key' = 'C:\\plain'\n"
      "empty = ''\n"
      "list = [\"one\", 2, # two\n"
      "  'three',\n"
      "]\n"
      "last = 0",
      "r.toml");
  ASSERT_EQ(entries.size(), 8u);
  EXPECT_EQ(entries[0].key, "batch-tokens");
  EXPECT_EQ(entries[0].values, Values{"2048"});
  EXPECT_EQ(entries[0].line, 2);
  EXPECT_EQ(entries[1].values, Values{"-1.5e-3"});
  EXPECT_EQ(entries[2].values, Values{"true"});
  EXPECT_EQ(entries[3].values, Values{"a # b = \"c\"\t\\.tsv"});
  EXPECT_EQ(entries[4].key, "odd key");
  EXPECT_EQ(entries[4].values, Values{"C:\\plain"});
  EXPECT_EQ(entries[5].values, Values{""});
  EXPECT_EQ(entries[6].values, (Values{"one", "2", "three"}));
  EXPECT_EQ(entries[7].line, 12);
  EXPECT_EQ(entries[7].values, Values{"0"});
  EXPECT_TRUE(read_toml("", "r").empty());
  EXPECT_TRUE(read_toml(" # only a comment", "r").empty());
}

TEST(Toml, ErrorsContainTheLine) {
  struct Case {
    const char *text, *message;
  };
  for (const auto& [text, message] : {Case{"a = 1\nb", "r.toml, line 2: expected = and a value after the key \"b\""},
                                      {"a = one", "line 1: expected a number"},
                                      {"a =", "got the end of the line"},
                                      {"a = 1 2", "expected the end of the line"},
                                      {"a = 007", "expected a number"},
                                      {"a = .5", "expected a number"},
                                      {"a = 5.", "expected a number"},
                                      {"a = 1e", "expected a number"},
                                      {"a = 1__0", "expected a number"},
                                      {"a = \"x\nb = 1", "no closing \""},
                                      {"a = \"\\q\"", "after a backslash"},
                                      {"a = \"\\", "after a backslash"},
                                      {"a = \"\"\"x\"\"\"", "multi-line strings"},
                                      {"a = [1, 2", "expected , or ]"},
                                      {"a = [1,", "no closing ]"},
                                      {"a = [1 2]", "expected , or ]"},
                                      {"a = [,]", "expected a number"},
                                      {"\n[table]\n", "line 2: tables are not supported"},
                                      {"a.b = 1", "expected = and a value"},
                                      {"a = 1\na = 2", "duplicate key \"a\", first in line 1"},
                                      {"= 1", "expected a key"},
                                      {"a = 1\rb = 2", "expected the end of the line"}})
    EXPECT_ERROR(read_toml(text, "r.toml"), message);
}

TEST(Toml, ValuesSurviveARoundTrip) {
  for (const std::string value :
       {"1", "-0.5", "1e-05", "true", "", "word", "a b", "\"\\\n\t\r'#", "007", ".5", "1_0", "é"}) {
    const std::vector<TomlEntry> entries = read_toml("key = " + toml_value(value) + "\n", "r.toml");
    ASSERT_EQ(entries.size(), 1u) << value;
    EXPECT_EQ(entries[0].values, Values{value});
  }
  EXPECT_EQ(toml_value("1e-05"), "1e-05");
  EXPECT_EQ(toml_value("cosine"), "\"cosine\"");
}

}  // namespace
}  // namespace attend
