// Random JSON Schemas, and a validator for the keywords that they have, written for the tests alone: whether what a
// grammar makes of a schema conforms to it.
#pragma once
#include <cmath>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <random>
#include <regex>
#include <string>
#include <vector>

namespace attend::test {

using Json = nlohmann::ordered_json;

inline std::size_t count_characters(const std::string& text) {
  std::size_t count = 0;
  for (const char c : text) count += (static_cast<unsigned char>(c) & 0xC0) != 0x80;
  return count;
}

/// The characters of a text.
inline std::wstring wide(const std::string& text) {
  std::wstring all;
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if ((byte & 0xC0) == 0x80)
      all.back() = static_cast<wchar_t>(all.back() << 6 | (byte & 0x3F));
    else
      all += static_cast<wchar_t>(byte < 0x80   ? byte
                                  : byte < 0xE0 ? byte & 0x1F
                                  : byte < 0xF0 ? byte & 0x0F
                                                : byte & 7);
  }
  return all;
}

/// Whether a value conforms to a schema. `root` is what "$ref" refers to.
inline bool conforms(const Json& value, const Json& schema, const Json& root) {
  if (schema.is_boolean()) return schema.get<bool>();
  const auto is_of = [&](const std::string& type) {
    if (type == "object") return value.is_object();
    if (type == "array") return value.is_array();
    if (type == "string") return value.is_string();
    if (type == "boolean") return value.is_boolean();
    if (type == "null") return value.is_null();
    if (type == "integer")
      return value.is_number_integer() || (value.is_number() && value.get<double>() == std::floor(value.get<double>()));
    return type == "number" && value.is_number();
  };
  const auto matches = [](const std::string& text, const std::string& pattern) {
    return std::regex_search(wide(text), std::wregex(wide(pattern), std::regex::ECMAScript));
  };
  for (const auto& [key, limit] : schema.items()) {
    bool good = true;
    if (key == "$ref") {
      const auto path = limit.get<std::string>();
      good = conforms(value, path == "#" ? root : root.at(nlohmann::json_pointer<std::string>(path.substr(1))), root);
    } else if (key == "type") {
      good = false;
      for (const Json& type : limit.is_array() ? limit : Json::array({limit})) good |= is_of(type.get<std::string>());
    } else if (key == "enum") {
      good = std::find(limit.begin(), limit.end(), value) != limit.end();
    } else if (key == "const") {
      good = value == limit;
    } else if (key == "anyOf" || key == "oneOf") {
      good = false;
      for (const Json& one : limit) good |= conforms(value, one, root);
    } else if (key == "allOf") {
      for (const Json& one : limit) good &= conforms(value, one, root);
    }
    if (value.is_object()) {
      if (key == "required")
        for (const Json& name : limit) good &= value.contains(name.get<std::string>());
      if (key == "minProperties") good = value.size() >= limit.get<std::size_t>();
      if (key == "maxProperties") good = value.size() <= limit.get<std::size_t>();
      for (const auto& [name, member] : value.items()) {
        const bool declared = schema.contains("properties") && schema["properties"].contains(name);
        if (key == "properties" && declared) good &= conforms(member, limit[name], root);
        if (key == "additionalProperties" && !declared) good &= conforms(member, limit, root);
        if (key == "propertyNames") good &= conforms(name, limit, root);
      }
    } else if (value.is_array()) {
      const std::size_t prefix = schema.contains("prefixItems") ? schema["prefixItems"].size() : 0;
      if (key == "minItems") good = value.size() >= limit.get<std::size_t>();
      if (key == "maxItems") good = value.size() <= limit.get<std::size_t>();
      for (std::size_t i = 0; i < value.size(); ++i) {
        if (key == "prefixItems" && i < prefix) good &= conforms(value[i], limit[i], root);
        if (key == "items" && i >= prefix) good &= conforms(value[i], limit, root);
      }
    } else if (value.is_string()) {
      const auto text = value.get<std::string>();
      if (key == "minLength") good = count_characters(text) >= limit.get<std::size_t>();
      if (key == "maxLength") good = count_characters(text) <= limit.get<std::size_t>();
      if (key == "pattern") good = matches(text, limit);
      if (key == "format" && limit == "date") good = matches(text, R"(^\d{4}-(0[1-9]|1[0-2])-(0[1-9]|[12]\d|3[01])$)");
      if (key == "format" && limit == "time")
        good = matches(text, R"(^([01]\d|2[0-3]):[0-5]\d:[0-5]\d(\.\d+)?(Z|[+-]\d\d:\d\d)$)");
      if (key == "format" && limit == "date-time")
        good = matches(text, R"(^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)$)");
      if (key == "format" && limit == "uuid") good = matches(text, "^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$");
    } else if (value.is_number()) {
      const auto number = value.get<double>();
      if (key == "minimum") good = number >= limit.get<double>();
      if (key == "maximum") good = number <= limit.get<double>();
      if (key == "exclusiveMinimum") good = number > limit.get<double>();
      if (key == "exclusiveMaximum") good = number < limit.get<double>();
    }
    if (!good) return false;
  }
  return true;
}

/// Makes schemas of all supported keywords.
class SchemaGenerator {
 public:
  explicit SchemaGenerator(std::uint64_t seed) : random_(seed) {}

  Json operator()() {
    Json schema = one(3);
    Json definitions;
    definitions["leaf"] = one(0);
    definitions["node"] = {{"type", "object"},
                           {"properties",
                            {{"name", {{"type", "string"}, {"maxLength", 5}}},
                             {"next", {{"$ref", "#/$defs/node"}}},
                             {"all", {{"type", "array"}, {"items", {{"$ref", "#/$defs/node"}}}}}}},
                           {"required", {"name"}},
                           {"additionalProperties", false}};
    if (schema.is_object()) schema["$defs"] = definitions;
    return schema;
  }

 private:
  std::int64_t below(std::int64_t n) { return static_cast<std::int64_t>(random_() % static_cast<std::uint64_t>(n)); }
  bool chance() { return below(2) == 0; }
  std::string name() {
    static const std::vector<std::string> kNames{"a", "ab", "name", "größe", "x y", "\"q\"", "b\\s", "", "id", "日本"};
    return kNames[static_cast<std::size_t>(below(10))];
  }
  Json bounds(const char* least, const char* most, std::int64_t largest) {
    Json all = Json::object();
    const std::int64_t low = below(largest), high = low + below(largest);
    if (chance()) all[least] = low;
    if (chance()) all[most] = high;
    return all;
  }
  Json literal() {
    const std::vector<Json> all{
        1, -2.5, "a\"\n", "ü", true, nullptr, Json::array({1, "x"}), Json{{"k", Json::array()}}};
    return all[static_cast<std::size_t>(below(8))];
  }
  Json number(bool integer) {
    Json schema{{"type", integer ? "integer" : "number"}};
    const auto value = [&]() -> Json {
      const std::int64_t whole = below(4) == 0 ? below(2000000) - 1000000 : below(40) - 20;
      if (integer && below(4) > 0) return whole;
      return static_cast<double>(whole) + static_cast<double>(below(1000)) / 1000;
    };
    const Json low = value();
    Json high = value();
    if (high.get<double>() < low.get<double>() + 1.5)
      high = low.get<double>() + 1.5 + static_cast<double>(below(100)) / 8;
    if (chance()) schema[chance() ? "minimum" : "exclusiveMinimum"] = low;
    if (chance()) schema[chance() ? "maximum" : "exclusiveMaximum"] = high;
    return schema;
  }
  Json string() {
    Json schema{{"type", "string"}};
    static const std::vector<std::string> kPatterns{
        "^[a-z]{2,4}$",   "^(ab|c+d?)*e$",      R"(^\d{3}-\d{4}$)",     "x",     "^a|b$", R"(^[^a-y"]+$)",
        R"(^"[\\/]\w*$)", R"(^(?:\s\S){1,2}$)", R"(^.\.[\x41-F\-\]]$)", "(a|)b?"};
    static const std::vector<std::string> kFormats{"date", "time", "date-time", "uuid"};
    if (const std::int64_t kind = below(4); kind == 0)
      schema["pattern"] = kPatterns[static_cast<std::size_t>(below(std::ssize(kPatterns)))];
    else if (kind == 1)
      schema["format"] = kFormats[static_cast<std::size_t>(below(4))];
    else
      schema.update(bounds("minLength", "maxLength", 6));
    return schema;
  }
  Json object(int depth) {
    Json schema{{"type", "object"}};
    if (below(5) == 0) {  // a map
      schema.update(bounds("minProperties", "maxProperties", 2));
      schema["additionalProperties"] = one(depth - 1);
      if (chance()) schema["propertyNames"] = {{"pattern", "^[a-c]+$"}};
      return schema;
    }
    schema["properties"] = Json::object();
    schema["required"] = Json::array();
    for (std::int64_t i = below(5); i > 0; --i) {
      const std::string key = name();
      schema["properties"][key] = one(depth - 1);
      if (chance()) schema["required"].push_back(key);
    }
    if (const std::int64_t others = below(4); others == 0)
      schema["additionalProperties"] = false;
    else if (others == 1)
      schema["additionalProperties"] = one(0);
    if (below(6) == 0 && schema.value("additionalProperties", Json(true)) != false)
      schema["required"].push_back("more");
    return schema;
  }
  Json array(int depth) {
    Json schema{{"type", "array"}};
    if (below(3) == 0) {
      schema["prefixItems"] = Json::array();
      for (std::int64_t i = below(3); i >= 0; --i) schema["prefixItems"].push_back(one(depth - 1));
      if (chance()) schema["items"] = chance() ? Json(false) : one(0);
      if (chance()) schema["minItems"] = below(std::ssize(schema["prefixItems"]) + 1);
      return schema;
    }
    if (below(4) > 0) schema["items"] = one(depth - 1);
    schema.update(bounds("minItems", "maxItems", 4));
    return schema;
  }
  Json one(int depth) {
    switch (below(depth > 0 ? 16 : 8)) {
      case 0:
        return {{"type", "boolean"}};
      case 1:
        return {{"type", Json::array({"null", chance() ? "string" : "integer"})}};
      case 2:
      case 3:
        return string();
      case 4:
        return number(true);
      case 5:
        return number(false);
      case 6:
        return chance() ? Json{{"const", literal()}} : Json{{"enum", Json::array({literal(), literal(), literal()})}};
      case 7:
        return Json{{"$ref", chance() ? "#/$defs/node" : "#/$defs/node/properties/name"}};
      case 8:
      case 9:
      case 10:
        return object(depth);
      case 11:
      case 12:
        return array(depth);
      case 13: {
        Json schema{{chance() ? "anyOf" : "oneOf", Json::array({one(depth - 1), one(depth - 1)})}};
        return schema;
      }
      case 14: {  // a part that both have, merged
        Json first = object(depth),
             second{{"type", Json::array({"object", "null"})}, {"properties", {{"id", number(true)}}}};
        first.erase("propertyNames"), first.erase("minProperties"), first.erase("maxProperties");
        if (first.contains("properties")) first["properties"].erase("id");
        if (first.contains("additionalProperties") && !first.contains("properties"))
          first["additionalProperties"] = true;
        if (first.value("additionalProperties", Json(true)) == false) first["additionalProperties"] = true;
        if (first.contains("additionalProperties")) first["additionalProperties"] = true;
        return {{"allOf", Json::array({first, second})}};
      }
      default:
        return below(3) == 0 ? Json(true) : Json{{"title", "anything"}};
    }
  }

  std::mt19937_64 random_;
};

}  // namespace attend::test
