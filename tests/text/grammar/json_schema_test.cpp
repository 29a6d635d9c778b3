#include "attend/text/grammar/json_schema.h"

#include <gtest/gtest.h>

#include "attend/core/error.h"
#include "attend/text/grammar/grammar.h"
#include "attend/text/grammar/grammar_matcher.h"
#include "attend/text/grammar/json_expressions.h"
#include "tests/support/errors.h"
#include "tests/support/json_schemas.h"

namespace attend {
namespace {

using test::Json;

/// A text of a grammar: random bytes that are allowed, and from some point on the shortest end.
std::string random_text(GrammarMatcher& matcher, std::mt19937_64& random, std::size_t size) {
  matcher.renew_budget();
  std::string text;
  std::uint32_t set = matcher.start();
  while (text.size() < size && !(matcher.accepts(set) && random() % 20 == 0)) {
    std::vector<std::pair<char, std::uint32_t>> next;
    // ASCII more often than bytes of other characters, as there are more of those.
    for (int byte = 0; byte < 256; byte += byte < 128 ? 1 : 16) {
      matcher.renew_budget();
      const std::uint32_t after = matcher.step(set, static_cast<unsigned char>(byte));
      if (after != GrammarMatcher::kDead) next.emplace_back(static_cast<char>(byte), after);
    }
    if (next.empty()) break;
    const auto& [byte, after] = next[random() % next.size()];
    text += byte, set = after;
  }
  return text + matcher.shortest(set);
}

TEST(JsonSchema, EveryTextOfARandomSchemaConformsToIt) {
  test::SchemaGenerator make(7);
  std::mt19937_64 random(8);
  int unsatisfiable = 0;
  for (int i = 0; i < 600; ++i) {
    const Json schema = make();
    SchemaGrammar grammar;
    std::optional<GrammarMatcher> matcher;
    try {
      grammar = json_schema_grammar(schema.dump());
      matcher.emplace(Grammar(grammar.gbnf));
    } catch (const InputError& error) {
      const std::string what = error.what();
      EXPECT_TRUE(what.find("no text conforms") != what.npos) << what << "\n" << schema.dump();
      ++unsatisfiable;
      continue;
    }
    for (int n = 0; n < 4; ++n) {
      const std::string text = random_text(*matcher, random, static_cast<std::size_t>(20 * n * n));
      const Json value = Json::parse(text, nullptr, false);
      ASSERT_FALSE(value.is_discarded()) << text << "\n" << schema.dump() << "\n" << grammar.gbnf;
      ASSERT_TRUE(test::conforms(value, schema, schema)) << text << "\n" << schema.dump() << "\n" << grammar.gbnf;
    }
  }
  EXPECT_LT(unsatisfiable, 20);
}

void expect_values(const Json& schema, const std::vector<std::string>& conform,
                   const std::vector<std::string>& others) {
  const Grammar grammar(json_schema_grammar(schema.dump()).gbnf);
  for (const std::string& text : conform) EXPECT_TRUE(grammar.accepts(text)) << schema << "\n" << text;
  for (const std::string& text : others) EXPECT_FALSE(grammar.accepts(text)) << schema << "\n" << text;
}

TEST(JsonSchema, ObjectsHaveTheirPropertiesInOrder) {
  const Json schema =
      Json::parse(R"({"type": "object", "properties": {"a": {"type": "integer"}, "b": {"type": "string"},
    "c": {"type": "boolean"}}, "required": ["a", "c"], "additionalProperties": false})");
  expect_values(schema,
                {R"({"a":1,"c":true})", R"({"a": 1, "b": "x", "c": false})", "{\n  \"a\": 1,\n  \"c\": true\n}"},
                {"{}", R"({"a":1})", R"({"c":true,"a":1})", R"({"a":1,"c":true,"d":0})", R"({"a":1,,"c":true})",
                 R"({"a":1.5,"c":true})", R"({"a":1,"c":true} )", R"({"a":1  ,"c":true})"});
  expect_values({{"type", "object"},
                 {"properties", {{"ab", {{"const", 1}}}, {"a", {{"const", 2}}}}},
                 {"additionalProperties", {{"type", "null"}}}},
                {"{}", R"({"ab":1})", R"({"a":2})", R"({"b":null})", R"({"ab":1,"a":2,"abc":null,"":null})"},
                {R"({"ab":null})", R"({"b":null,"a":null})", R"({"\u0061b":null})"});
  expect_values({{"properties", {{"a", true}}}}, {"{}", R"({"a":[1,{"x":null}]})"}, {R"({"b":1})", "1"});
  expect_values({{"type", "object"}}, {"{}", R"({"any":{"thing":[]}})"}, {"[]"});
}

TEST(JsonSchema, ArraysHaveTheirElements) {
  const Json digits{{"enum", {1, 2}}};
  expect_values({{"items", digits}, {"minItems", 2}, {"maxItems", 3}}, {"[1,2]", "[1, 1, 1]"},
                {"[1]", "[]", "[1,1,1,1]", "[3,3]"});
  expect_values({{"items", digits}, {"maxItems", 0}}, {"[]"}, {"[1]"});
  expect_values({{"prefixItems", {digits, {{"type", "null"}}}}, {"items", false}, {"minItems", 1}}, {"[1]", "[1,null]"},
                {"[]", "[1,1]", "[1,null,1]"});
  expect_values({{"prefixItems", {digits}}, {"items", {{"type", "null"}}}, {"maxItems", 2}}, {"[]", "[1]", "[1,null]"},
                {"[1,null,null]", "[null]"});
}

TEST(JsonSchema, StringsAreCountedInCharactersAndEscaped) {
  expect_values({{"type", "string"}, {"minLength", 2}, {"maxLength", 3}},
                {"\"ab\"", "\"äöü\"", R"("\n\u00e4")", R"("\ud83d\ude00x")", "\"😀😀\""},
                {"\"a\"", "\"abcd\"", R"("\ud83d\ude00")", R"("\ud83dxx")", R"("\q1")", "\"a\nb\""});
  expect_values({{"pattern", R"(^[a-z]+(-\d{2})?$)"}}, {"\"abc\"", "\"a-12\""}, {"\"\"", "\"a-1\"", "\"A\""});
  expect_values({{"pattern", R"(^["\\]$)"}}, {R"("\"")", R"("\\")"}, {R"(""")", R"("\")"});
  expect_values({{"pattern", "b"}}, {"\"b\"", "\"abc\""}, {"\"ac\""});
  expect_values({{"pattern", "^a|b$"}}, {"\"ax\"", "\"xb\"", "\"b\""}, {"\"xa\"", "\"bx\""});
  expect_values({{"format", "date"}}, {"\"2024-02-28\"", "\"1999-12-31\""},
                {"\"2024-02-30\"", "\"2024-04-31\"", "\"2024-13-01\""});
  expect_values({{"format", "date-time"}}, {"\"2024-02-28T23:59:59Z\"", "\"2024-01-01T00:00:00.5+01:00\""},
                {"\"2024-02-28\"", "\"2024-01-01T24:00:00Z\""});
  expect_values({{"format", "email"}}, {"\"a.b@example.com\""}, {"\"a@b\"", "\"@x.com\"", "\"a..b@x.com\""});
  expect_values({{"format", "ipv4"}}, {"\"255.0.10.99\""}, {"\"256.0.0.1\"", "\"01.2.3.4\""});
}

TEST(JsonSchema, BoundsOfNumbersHold) {
  std::mt19937_64 random(3);
  for (int i = 0; i < 300; ++i) {
    const auto pick = [&]() -> std::optional<std::int64_t> {
      if (random() % 4 == 0) return {};
      return static_cast<std::int64_t>(random() % 2400) - 1200;
    };
    const auto least = pick(), most = pick();
    GrammarMatcher matcher(Grammar("root ::= " + integer_expression(least, most) + " | \"x\""));
    const auto accepts = [&](const std::string& text) {
      std::uint32_t set = matcher.start();
      for (const char c : text) set = matcher.step(set, static_cast<unsigned char>(c));
      return matcher.accepts(set);
    };
    for (std::int64_t n = -1300; n <= 1300; n += 1 + static_cast<std::int64_t>(random() % 7))
      ASSERT_EQ(accepts(std::to_string(n)), (!least || n >= *least) && (!most || n <= *most))
          << n << " of " << least.value_or(-9999) << " to " << most.value_or(9999);
  }
  expect_values({{"type", "integer"}, {"exclusiveMinimum", 0}, {"maximum", 9.5}}, {"1", "9"},
                {"0", "10", "01", "-1", "1.0"});
  expect_values({{"type", "number"}, {"minimum", 0.25}, {"exclusiveMaximum", 1}}, {"0.25", "0.250001", "0.999999"},
                {"0.2", "0.249999", "1", "1.0", "0"});
  expect_values({{"type", "number"}, {"minimum", -1.5}, {"maximum", 2}},
                {"-1.500000", "-1", "0", "0.5", "2", "2.0", "-0.7"}, {"-1.6", "-2", "2.000001", "3"});
  expect_values({{"type", "number"}, {"exclusiveMinimum", 0}}, {"0.000001", "1", "123456789.5"},
                {"0", "0.0", "-1", "-0.1"});
  expect_values({{"type", "number"}, {"maximum", 1e300}}, {"0", "-5", "12345678.5", "1e5"}, {"x"});
  EXPECT_ERROR(json_schema_grammar(R"({"properties": {"a": {"type": "number", "minimum": 1e20}}})"),
               "#/properties/a: the bounds of a number");
}

TEST(JsonSchema, AlternativesAndMergesConform) {
  expect_values({{"type", {"integer", "null"}}, {"minimum", 3}}, {"3", "null"}, {"2", "\"a\""});
  expect_values({{"enum", {1, "a", nullptr, {{"x", {1, 2}}}}}}, {"1", "\"a\"", "null", R"({"x":[1,2]})"}, {"2", "a"});
  expect_values({{"enum", {1, "a", 2.5}}, {"type", "integer"}}, {"1"}, {"2.5", "\"a\""});
  const Json merged =
      Json::parse(R"({"type": "object", "properties": {"kind": {"type": "string"}, "n": {"type": "number"}},
    "anyOf": [{"properties": {"kind": {"const": "a"}}, "required": ["kind"]},
              {"properties": {"kind": {"const": "b"}, "n": {"minimum": 1, "maximum": 2}}, "required": ["kind", "n"]}]})");
  expect_values(merged, {R"({"kind":"a"})", R"({"kind":"b","n":1.5})", R"({"kind":"a","n":7})"},
                {R"({"kind":"b"})", R"({"kind":"b","n":7})", "{}", R"({"kind":"c"})"});
  expect_values({{"allOf", {{{"type", "integer"}, {"minimum", 2}}, {{"type", "number"}, {"maximum", 4}}}}}, {"2", "4"},
                {"1", "5", "2.5"});
  const Json closed = Json::parse(R"({"allOf": [{"properties": {"a": {}, "b": {}}},
    {"properties": {"a": {"type": "null"}}, "additionalProperties": false}]})");
  expect_values(closed, {"{}", R"({"a":null})"}, {R"({"b":1})", R"({"a":1})"});
  const Json tree = Json::parse(R"({"$ref": "#/$defs/tree", "$defs": {"tree": {"type": "object", "properties":
    {"v": {"type": "integer"}, "kids": {"type": "array", "items": {"$ref": "#/$defs/tree"}}}, "required": ["v", "kids"]}}})");
  expect_values(tree, {R"({"v":1,"kids":[]})", R"({"v":1,"kids":[{"v":2,"kids":[{"v":3,"kids":[]}]}]})"},
                {R"({"v":1,"kids":[1]})", R"({"v":1})"});
  const Json both = Json::parse(
      R"({"$ref": "#/$defs/a", "required": ["x"], "$defs": {"a": {"properties": {"x": {"type": "null"}}}}})");
  expect_values(both, {R"({"x":null})"}, {"{}"});
}

TEST(JsonSchema, AnErrorNamesTheKeywordAndItsPath) {
  const auto expect_error_of = [](const char* schema, const char* part) {
    EXPECT_ERROR(Grammar(json_schema_grammar(schema).gbnf), part);
  };
  expect_error_of(R"({"properties": {"a/b": {"not": {}}}})", "#/properties/a~1b/not: this keyword is not supported");
  expect_error_of(R"({"items": {"uniqueItems": true}})", "#/items/uniqueItems: this keyword is not supported");
  expect_error_of(R"({"type": "integer", "multipleOf": 3})", "#/multipleOf: this keyword is not supported");
  expect_error_of(R"({"if": {}})", "#/if: this keyword is not supported");
  expect_error_of(R"({"type": "text"})", "#/type: unknown type: got \"text\"");
  expect_error_of(R"({"anyOf": []})", "#/anyOf: expected a list with an element at least");
  expect_error_of(R"({"minLength": -1})", "#/minLength: expected a number of at least 0");
  expect_error_of(R"({"minLength": 100000})", "#/minLength: it is at least 100000");
  expect_error_of(R"_({"pattern": "a(?=b)"})_", "#/pattern: ");
  expect_error_of(R"({"pattern": "(a"})", "the group has no closing )");
  expect_error_of(R"({"pattern": "\\bword"})", "\\b is not supported");
  expect_error_of(R"({"pattern": "a", "maxLength": 3})", "#/pattern: a pattern beside minLength");
  expect_error_of(R"({"$ref": "https://example.com/schema"})", "#/$ref: only references into the same schema");
  expect_error_of(R"({"$ref": "#/$defs/none"})", "#/$ref: there is nothing at \"#/$defs/none\"");
  expect_error_of(R"({"$ref": "#"})", "#: the schema refers to itself");
  expect_error_of(R"({"allOf": [{"$ref": "#"}, {"minimum": 1}]})", "#: the schema refers to itself");
  expect_error_of(R"({"items": {"$ref": "#/$defs/a"}, "$defs": {"a": {"anyOf": [{}, {"$ref": "#/$defs/a"}]}}})",
                  "#/items: the schema refers to itself");
  expect_error_of(R"({"type": "object", "properties": {"x": {"$ref": "#"}}, "required": ["x"]})", "no text conforms");
  expect_error_of(R"({"required": ["x"], "additionalProperties": false})", "additionalProperties forbids it");
  expect_error_of(R"({"minProperties": 2})", "#/minProperties: more than 1 is not supported");
  expect_error_of(R"({"const": "a", "minLength": 1})",
                  "#/minLength: this keyword is not supported beside enum or const");
  expect_error_of("false", "no text conforms");
  expect_error_of("3", "a schema is an object or a boolean");
  expect_error_of("{", "json_schema");
  expect_error_of(std::string(100, '[').c_str(), "json_schema");
  const SchemaGrammar warned = json_schema_grammar(R"({"properties": {"site": {"type": "string", "format": "uri"}}})");
  EXPECT_EQ(warned.warnings, std::vector<std::string>{"#/properties/site/format: the format \"uri\" is ignored"});
}

TEST(JsonSchema, SchemasThatGrowAreRefused) {
  // Each level doubles the alternatives of the one before.
  Json schema = Json::object();
  schema["$defs"]["d0"] = {{"properties", {{"a", {{"type", "integer"}}}}}};
  for (int i = 1; i < 60; ++i) {
    const Json before{{"$ref", "#/$defs/d" + std::to_string(i - 1)}};
    schema["$defs"]["d" + std::to_string(i)] = {{"allOf", {before, before}},
                                                {"properties", {{"p" + std::to_string(i), before}}}};
  }
  schema["$ref"] = "#/$defs/d59";
  try {
    Grammar(json_schema_grammar(schema.dump()).gbnf);
  } catch (const InputError&) {
  }
  Json wide = Json::array();
  for (int i = 0; i < 1000; ++i) wide.push_back({{"properties", {{"p" + std::to_string(i), {{"type", "integer"}}}}}});
  EXPECT_TRUE(Grammar(json_schema_grammar(Json{{"anyOf", wide}}.dump()).gbnf).accepts("{\"p77\":1}"));
  EXPECT_ERROR(json_schema_grammar(Json{{"anyOf", wide}, {"allOf", {{{"anyOf", wide}}}}}.dump()),
               "too many alternatives");
}

TEST(JsonObject, IsAnyObject) {
  const Grammar grammar(json_object_grammar());
  EXPECT_TRUE(grammar.accepts(R"({"a": [1, -2.5e3, "x", {"b": null}], "c": true})"));
  EXPECT_FALSE(grammar.accepts("[]"));
  EXPECT_FALSE(grammar.accepts("{\"a\": 01}"));
}

TEST(ToolCalls, HaveTheNameAndTheArgumentsOfATool) {
  const std::string tools = R"([
    {"type": "function", "function": {"name": "weather", "parameters": {"type": "object",
      "properties": {"city": {"$ref": "#/$defs/c"}}, "required": ["city"], "$defs": {"c": {"type": "string"}}}}},
    {"type": "function", "function": {"name": "now"}}])";
  const Grammar any(tool_call_grammar(tools).gbnf);
  const std::string weather = "<tool_call>\n{\"name\": \"weather\", \"arguments\": {\"city\": \"Rome\"}}\n</tool_call>";
  const std::string now = "<tool_call>\n{\"name\": \"now\", \"arguments\": {}}\n</tool_call>";
  EXPECT_TRUE(any.accepts(weather));
  EXPECT_TRUE(any.accepts(weather + "\n" + now));
  EXPECT_FALSE(any.accepts(""));
  EXPECT_FALSE(any.accepts("Hello " + now));
  EXPECT_FALSE(any.accepts("<tool_call>\n{\"name\": \"weather\", \"arguments\": {}}\n</tool_call>"));
  const Grammar named(tool_call_grammar(tools, {.several = false}, "now").gbnf);
  EXPECT_TRUE(named.accepts(now));
  EXPECT_FALSE(named.accepts(weather));
  EXPECT_FALSE(named.accepts(now + "\n" + now));
  const Grammar free(tool_call_grammar(tools, {.after_begin = true}).gbnf);
  for (const std::string& text :
       {std::string(), std::string("Hello <tool"),
        "Wait. <<tool_call>\n{\"name\": \"now\", \"arguments\": {}}\n</tool_call> and " + weather})
    EXPECT_TRUE(free.accepts(text)) << text;
  EXPECT_FALSE(free.accepts("Hello <tool_call>\n{\"name\": \"never\""));
  EXPECT_FALSE(free.accepts("Hello <tool_call>\n nothing"));
  EXPECT_ERROR(tool_call_grammar(tools, {}, "none"), "there is no tool \"none\"");
  EXPECT_ERROR(tool_call_grammar("[]"), "there are no tools");
  EXPECT_ERROR(tool_call_grammar("[1]"), "expected {\"type\": \"function\"");
}

}  // namespace
}  // namespace attend
