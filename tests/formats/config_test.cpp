#include "attend/formats/config.h"

#include <gtest/gtest.h>

#include "tests/support/errors.h"
#include "tests/support/small_stack.h"

namespace attend::test {
namespace {

TEST(Config, DeepNestingIsAnErrorAndNeedsNoStack) {
  const std::string deep = R"({"model_type": )" + std::string(1'000'000, '[') + std::string(1'000'000, ']') + "}";
  run_with_small_stack([&] {
    EXPECT_ERROR(Config::parse(deep, "config.json"),
                 "[config] config.json: is not valid JSON: nested too deep: more than 64 lists and objects");
  });
}

TEST(Config, ManyKeysTakeLinearTime) {
  constexpr int kKeys = 200'000;  // minutes, if each key were compared with all others
  Config written;
  for (int i = 0; i < kKeys; ++i) written.set(std::to_string(i), i);
  const Config read = Config::parse(written.dump(), "config.json");
  for (int i = 0; i < kKeys; ++i) ASSERT_EQ(read.integer(std::to_string(i)), i);
}

TEST(Config, TheNumberOfValuesIsBounded) {
  std::string list = R"({"a": [0)";
  for (int i = 0; i < 1'100'000; ++i) list += ",0";
  EXPECT_ERROR(Config::parse(list + "]}", "config.json"), "more than 1048576 values");
}

TEST(Config, TheLastOfTwoEqualKeysCountsAndOrderIsKept) {
  const Config config = Config::parse(R"({"b": 1, "a": {"c": 1, "c": 2}, "b": 3})", "config.json");
  EXPECT_EQ(config.integer("b"), 3);
  EXPECT_EQ(config.object("a").integer("c"), 2);
  EXPECT_EQ(config.dump(), "{\n  \"b\": 3,\n  \"a\": {\n    \"c\": 2\n  }\n}\n");
}

TEST(Config, IntegersThatDoNotFitAreNoIntegers) {
  const Config config = Config::parse(R"({"a": 18446744073709551615})", "config.json");
  EXPECT_ERROR(config.integer("a"), "\"a\" is 1.8446744073709552e+19, expected an integer");
  // Some folders write Python's sys.maxsize for "no limit".
  EXPECT_EQ(Config::parse(R"({"a": 9223372036854775807})", "config.json").integer("a"), INT64_MAX);
}

TEST(Config, WhatIsNoObjectIsAnError) {
  EXPECT_ERROR(Config::parse("[]", "config.json"), "[config] config.json: got a list, expected an object");
  EXPECT_ERROR(Config::parse("{", "config.json"), "[config] config.json: is not valid JSON: parse error at line 1");
}

}  // namespace
}  // namespace attend::test
