#include "attend/text/grammar/json_schema.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>

#include "attend/core/error.h"
#include "attend/core/json.h"
#include "attend/text/grammar/character_ranges.h"
#include "attend/text/grammar/grammar.h"
#include "attend/text/grammar/json_expressions.h"
#include "attend/text/unicode.h"

namespace attend {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::size_t kMostValues = 100000, kMostRules = 20000, kMostBytes = 16 << 20, kMostWork = 64 << 20,
                      kMostAlternatives = 4096;
constexpr int kMostReferences = 1000;  // that lead to one another

/// Keywords without an effect on values.
const std::set<std::string_view> kAnnotations{"$schema",   "$id",           "$anchor",         "$comment",
                                              "$defs",     "definitions",   "title",           "description",
                                              "default",   "examples",      "deprecated",      "readOnly",
                                              "writeOnly", "discriminator", "contentEncoding", "contentMediaType"};
const std::set<std::string_view> kObjectKeywords{"properties",    "required",      "additionalProperties",
                                                 "propertyNames", "minProperties", "maxProperties"};
const std::set<std::string_view> kArrayKeywords{"items", "prefixItems", "minItems", "maxItems"};
const std::set<std::string_view> kStringKeywords{"minLength", "maxLength", "pattern", "format"};
const std::set<std::string_view> kNumberKeywords{"minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum"};
const std::set<std::string_view> kGeneralKeywords{"type", "enum", "const", "anyOf", "oneOf", "allOf", "$ref"};

/// The rules that schemas share, and those that each needs.
struct Builtin {
  const char *name, *body, *needs;
};
constexpr Builtin kBuiltins[] = {
    {"ws", R"((" " | "\n" [ \t]{0,20})?)", ""},
    {"char",
     R"([^"\\\x00-\x1F\x7F] | "\\" (["\\/bfnrt] | "u" ([0-9A-Ca-cE-Fe-f] hex{3} | [Dd] ([0-7] hex{2} | [89ABab] hex{2} "\\u" [Dd] [C-Fc-f] hex{2}))))",
     "hex"},
    {"hex", "[0-9A-Fa-f]", ""},
    {"plain", R"([^"\\\x00-\x1F\x7F])", ""},
    {"string", R"("\"" char* "\"")", "char"},
    {"number", nullptr, ""},   // number_expression
    {"integer", nullptr, ""},  // integer_expression
    {"boolean", R"("true" | "false")", ""},
    {"array", R"("[" ws (value ("," ws value)* ws)? "]")", "ws value"},
    {"object", R"("{" ws (string ":" ws value ("," ws string ":" ws value)* ws)? "}")", "ws string value"},
    {"value", R"(object | array | string | number | "true" | "false" | "null")", "object array string number"},
};

class SchemaCompiler {
 public:
  explicit SchemaCompiler(Json root) : root_(std::move(root)) {}

  /// Adds the rules of the schema, and returns the rule of its values.
  std::string compile() {
    std::string name = rule_for(root_, "#");
    for (std::size_t next = 0; next < open_.size(); ++next) {
      const Open one = open_[next];
      present_ = next;
      add(one.name, expression(one.schema, one.path));
    }
    check_circles();
    return name;
  }
  std::string builtin(const std::string& name) {
    if (!builtins_.insert(name).second) return name;
    for (const Builtin& one : kBuiltins) {
      if (name != one.name) continue;
      add(name, name == "number"    ? *number_expression({}, {})
                : name == "integer" ? integer_expression({}, {})
                                    : std::string(one.body));
      std::string_view needs = one.needs;
      while (!needs.empty()) {
        const std::size_t end = std::min(needs.find(' '), needs.size());
        builtin(std::string(needs.substr(0, end)));
        needs.remove_prefix(std::min(end + 1, needs.size()));
      }
    }
    return name;
  }
  const std::string& rules() const { return rules_; }
  std::vector<std::string> warnings;

 private:
  struct Open {
    Json schema;
    std::string path, name;
    std::vector<std::size_t> same = {};  // schemas whose values are values of this one
  };

  /// Throws if a schema is defined by nothing but itself.
  void check_circles() const {
    enum class Mark : std::uint8_t { unseen, open, done };
    std::vector<Mark> marks(open_.size());
    for (std::size_t i = 0; i < open_.size(); ++i) {
      std::vector<std::pair<std::size_t, std::size_t>> path;
      const auto enter = [&](std::size_t schema) { path.emplace_back(schema, 0), marks[schema] = Mark::open; };
      if (marks[i] == Mark::unseen) enter(i);
      while (!path.empty()) {
        auto& [schema, next] = path.back();
        if (next == open_[schema].same.size()) {
          marks[schema] = Mark::done;
          path.pop_back();
          continue;
        }
        const std::size_t other = open_[schema].same[next++];
        if (marks[other] == Mark::open) fail_at(open_[other].path, "the schema refers to itself, and so has no values");
        if (marks[other] == Mark::unseen) enter(other);
      }
    }
  }
  /// The rule of a schema whose values are values of the present one.
  std::string same_rule(const Json& schema, const std::string& path) {
    std::string name = rule_for(schema, path);
    if (const auto known = places_.find(name); known != places_.end()) open_[present_].same.push_back(known->second);
    return name;
  }

  [[noreturn]] static void fail_at(const std::string& path, const auto&... what) {
    fail<InputError>("json_schema", path, ": ", what...);
  }
  static std::string below(const std::string& path, std::string_view key) {
    std::string all = path + "/";
    for (const char c : key) all += c == '~' ? "~0" : c == '/' ? "~1" : std::string(1, c);
    return all;
  }

  void add(const std::string& name, const std::string& body) {
    if (++count_ > kMostRules || rules_.size() + body.size() > kMostBytes)
      fail<InputError>("json_schema", "the schema is too large: its grammar has more than ", kMostRules, " rules or ",
                       kMostBytes >> 20, " MiB");
    rules_ += name + " ::= " + body + "\n";
  }
  /// Schemas that refer to each other, and allOf, can make many large ones of a small one.
  void count_work(std::size_t bytes) {
    work_ += bytes;
    if (work_ > kMostWork)
      fail<InputError>("json_schema", "the schema is too large: its parts have more than ", kMostWork >> 20, " MiB");
  }
  /// A new name that reminds of the place in the schema.
  std::string new_name(const std::string& path) {
    std::string name;
    for (const char c : path.substr(path.rfind('/') + 1))
      if (name.size() < 30 && ((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9'))) name += c;
    return (name.empty() ? "schema" : name) + "-" + std::to_string(++names_);
  }
  /// The rule of a schema's values. Equal schemas share one.
  std::string rule_for(const Json& schema, const std::string& path) {
    if (schema.is_boolean() || (schema.is_object() && schema.empty()))
      return schema.is_boolean() && !schema.get<bool>() ? "[]" : builtin("value");
    std::string text = schema.dump();
    count_work(text.size());
    const auto [known, is_new] = known_.try_emplace(std::move(text));
    if (!is_new) return known->second;
    known->second = new_name(path);
    places_[known->second] = open_.size();
    open_.push_back({schema, path, known->second});
    return known->second;
  }

  // Keywords and their values.
  static void check_keywords(const Json& schema, const std::string& path) {
    for (const auto& [key, value] : schema.items()) {
      if (kAnnotations.contains(key) || key.starts_with("x-") || kGeneralKeywords.contains(key) ||
          kObjectKeywords.contains(key) || kArrayKeywords.contains(key) || kStringKeywords.contains(key) ||
          kNumberKeywords.contains(key))
        continue;
      if (key == "uniqueItems" && value == false) continue;
      if (key == "patternProperties" && value.is_object() && value.empty()) continue;
      if (key == "multipleOf" && value == 1 && schema.value("type", Json()) == "integer") continue;
      fail_at(below(path, key), "this keyword is not supported");
    }
  }
  static std::optional<std::int64_t> size(const Json& schema, const char* key, const std::string& path) {
    const auto found = schema.find(key);
    if (found == schema.end()) return {};
    double value = -1;
    if (found->is_number()) value = found->get<double>();
    if (value < 0 || value != std::floor(value)) fail_at(below(path, key), "expected a number of at least 0");
    return static_cast<std::int64_t>(std::min(value, 1e15));
  }
  /// "{2,5}", of which the upper bound can be lowered: fewer texts conform as well.
  static std::string times(std::int64_t least, std::optional<std::int64_t> most, const std::string& path) {
    if (least > Grammar::kMostRepetitions)
      fail_at(path, "it is at least ", least, ", of at most ", Grammar::kMostRepetitions);
    std::string text = "{" + std::to_string(least) + ",";
    if (most) text += std::to_string(std::min(*most, Grammar::kMostRepetitions));
    return text + "}";
  }

  static Json without_annotations(const Json& schema) {
    Json others = Json::object();
    for (const auto& [key, value] : schema.items())
      if (!kAnnotations.contains(key) && !key.starts_with("x-")) others[key] = value;
    return others;
  }
  static Json without(Json schema, const char* key) {
    schema.erase(key);
    return schema;
  }

  const Json& referenced(const Json& reference, const std::string& path) const {
    if (!reference.is_string()) fail_at(path, "expected a text");
    const auto text = reference.get<std::string>();
    if (!text.starts_with('#') || (text.size() > 1 && text[1] != '/'))
      fail_at(path, "only references into the same schema (\"#/…\") are supported: got \"", text, "\"");
    const Json* at = &root_;
    for (std::size_t begin = 1; begin < text.size();) {
      const std::size_t end = std::min(text.find('/', begin + 1), text.size());
      std::string key;
      for (std::size_t i = begin + 1; i < end; ++i) {
        if (text[i] == '~' && i + 1 < end && (text[i + 1] == '0' || text[i + 1] == '1')) {
          key += text[++i] == '0' ? '~' : '/';
        } else if (text[i] == '%' && i + 2 < end && std::isxdigit(text[i + 1]) && std::isxdigit(text[i + 2])) {
          key += static_cast<char>(std::stoi(text.substr(i + 1, 2), nullptr, 16));
          i += 2;
        } else {
          key += text[i];
        }
      }
      const bool index =
          at->is_array() && !key.empty() && key.size() < 7 && key.find_first_not_of("0123456789") == key.npos;
      if (at->is_object() && at->contains(key))
        at = &(*at)[key];
      else if (index && std::stoul(key) < at->size())
        at = &(*at)[std::stoul(key)];
      else
        fail_at(path, "there is nothing at \"", text, "\"");
      begin = end;
    }
    return *at;
  }

  // Expressions.
  std::string expression(const Json& schema, const std::string& path) {
    if (schema.is_boolean()) return rule_for(schema, path);
    if (!schema.is_object()) fail_at(path, "a schema is an object or a boolean");
    check_keywords(schema, path);
    const Json own = without_annotations(schema);
    if (own.empty()) return builtin("value");
    if (own.contains("$ref")) {
      const Json& target = referenced(own["$ref"], below(path, "$ref"));
      const Json others = without(own, "$ref");
      return others.empty() ? same_rule(target, own["$ref"].get<std::string>())
                            : same_rule(merged(target, others, path), path);
    }
    if (own.contains("allOf")) {
      Json all = without(own, "allOf");
      for (const Json& one : list(own, "allOf", path)) all = merged(all, one, below(path, "allOf"));
      return same_rule(all, path);
    }
    for (const char* key : {"anyOf", "oneOf"}) {
      if (!own.contains(key)) continue;
      const Json others = without(own, key);
      std::string all;
      std::size_t i = 0;
      for (const Json& one : list(own, key, path)) {
        const std::string place = below(below(path, key), std::to_string(i++));
        if (!one.is_object() && !one.is_boolean()) fail_at(place, "a schema is an object or a boolean");
        all += (all.empty() ? "" : " | ") + same_rule(others.empty() ? one : merged(others, one, place), place);
      }
      return all;
    }
    const std::set<std::string> types = types_of(own, path);
    if (own.contains("enum") || own.contains("const")) return literals(own, types, path);
    std::string all;
    for (const std::string& type : types) {
      if (type == "integer" && types.contains("number")) continue;
      all += (all.empty() ? "" : " | ") + of_type(type, own, path);
    }
    return all.empty() ? "[]" : all;
  }

  static const Json& list(const Json& schema, const char* key, const std::string& path) {
    const Json& found = schema.at(key);
    if (!found.is_array() || found.empty()) fail_at(below(path, key), "expected a list with an element at least");
    if (found.size() > kMostAlternatives)
      fail_at(below(path, key), "the list is too long: got ", found.size(), ", expected at most ", kMostAlternatives);
    return found;
  }

  static std::set<std::string> types_of(const Json& schema, const std::string& path) {
    static const std::set<std::string> kTypes{"object", "array", "string", "number", "integer", "boolean", "null"};
    std::set<std::string> types;
    if (const auto given = schema.find("type"); given != schema.end()) {
      for (const Json& type : given->is_array() ? *given : Json::array({*given})) {
        if (!type.is_string() || !kTypes.contains(type.get<std::string>()))
          fail_at(below(path, "type"), "unknown type: got ", type.dump());
        types.insert(type.get<std::string>());
      }
      return types;
    }
    for (const auto& [key, value] : schema.items()) {
      if (kObjectKeywords.contains(key)) types.insert("object");
      if (kArrayKeywords.contains(key)) types.insert("array");
      if (kStringKeywords.contains(key)) types.insert("string");
      if (kNumberKeywords.contains(key)) types.insert("number");
    }
    return types.empty() ? kTypes : types;
  }

  static bool has_type(const Json& value, const std::set<std::string>& types) {
    if (value.is_object()) return types.contains("object");
    if (value.is_array()) return types.contains("array");
    if (value.is_string()) return types.contains("string");
    if (value.is_boolean()) return types.contains("boolean");
    if (value.is_null()) return types.contains("null");
    const bool whole = value.is_number_integer() || value.get<double>() == std::floor(value.get<double>());
    return types.contains("number") || (whole && types.contains("integer"));
  }

  std::string literals(const Json& schema, const std::set<std::string>& types, const std::string& path) {
    for (const auto& [key, value] : schema.items())
      if (key != "enum" && key != "const" && key != "type")
        fail_at(below(path, key), "this keyword is not supported beside enum or const");
    std::string all;
    const Json values = schema.contains("enum") ? list(schema, "enum", path) : Json::array({schema["const"]});
    for (const Json& value : values)
      if (has_type(value, types) && (!schema.contains("const") || value == schema["const"]))
        all += (all.empty() ? "" : " | ") + gbnf_literal(value.dump());
    return all.empty() ? "[]" : all;
  }

  std::string of_type(const std::string& type, const Json& schema, const std::string& path) {
    if (type == "object") return object(schema, path);
    if (type == "array") return array(schema, path);
    if (type == "string") return string(schema, path);
    if (type == "number") return number(schema, path);
    if (type == "integer") return integer(schema, path);
    return type == "null" ? "\"null\"" : builtin(type);
  }

  std::string string(const Json& schema, const std::string& path) {
    const std::int64_t least = size(schema, "minLength", path).value_or(0);
    const auto most = size(schema, "maxLength", path);
    const bool has_length = least > 0 || most;
    if (schema.contains("pattern")) {
      if (has_length || schema.contains("format"))
        fail_at(below(path, "pattern"), "a pattern beside minLength, maxLength or format is not supported");
      if (!schema["pattern"].is_string()) fail_at(below(path, "pattern"), "expected a text");
      builtin("char");
      try {
        return "\"\\\"\" " + pattern_expression(schema["pattern"].get<std::string>()) + " \"\\\"\"";
      } catch (const InputError& error) {
        fail_at(below(path, "pattern"), error.what());
      }
    }
    if (schema.contains("format")) {
      if (!schema["format"].is_string()) fail_at(below(path, "format"), "expected a text");
      const auto format = schema["format"].get<std::string>();
      if (const auto body = format_expression(format)) {
        if (has_length) fail_at(below(path, "format"), "a format beside minLength or maxLength is not supported");
        return "\"\\\"\" " + *body + " \"\\\"\"";
      }
      warnings.push_back(below(path, "format") + ": the format \"" + format + "\" is ignored");
    }
    if (!has_length) return builtin("string");
    if (most.value_or(least) < least) return "[]";
    return "\"\\\"\" " + builtin("char") + times(least, most, below(path, "minLength")) + " \"\\\"\"";
  }

  /// A bound of numbers, as the larger of "minimum" and "exclusiveMinimum" is.
  static std::optional<NumberBound> bound(const Json& schema, bool least, const std::string& path) {
    std::optional<NumberBound> found;
    for (const bool exclusive : {false, true}) {
      const char* key = least       ? (exclusive ? "exclusiveMinimum" : "minimum")
                        : exclusive ? "exclusiveMaximum"
                                    : "maximum";
      const auto given = schema.find(key);
      if (given == schema.end()) continue;
      if (!given->is_number()) fail_at(below(path, key), "expected a number");
      const NumberBound one{given->get<double>(), exclusive};
      if (!found || (least ? one.value >= found->value : one.value <= found->value)) found = one;
    }
    return found;
  }
  std::string number(const Json& schema, const std::string& path) {
    const auto least = bound(schema, true, path), most = bound(schema, false, path);
    if (!least && !most) return builtin("number");
    const auto body = number_expression(least, most);
    if (!body)
      fail_at(path, "the bounds of a number leave only numbers of more than 14 digits, which are not supported");
    return *body;
  }
  std::string integer(const Json& schema, const std::string& path) {
    constexpr double kLargest = 9e17;
    const auto whole = [&](const std::optional<NumberBound>& given, bool least) -> std::optional<std::int64_t> {
      if (!given || (least ? given->value < -kLargest : given->value > kLargest)) return {};
      if (std::abs(given->value) > kLargest)
        fail_at(path, "the bounds of an integer leave only those of more than 17 digits, which are not supported");
      const double inside = least ? std::ceil(given->value) : std::floor(given->value);
      const bool excluded = given->exclusive && inside == given->value;
      return static_cast<std::int64_t>(inside) + (excluded ? (least ? 1 : -1) : 0);
    };
    const auto least = whole(bound(schema, true, path), true), most = whole(bound(schema, false, path), false);
    return !least && !most ? builtin("integer") : integer_expression(least, most);
  }

  std::string array(const Json& schema, const std::string& path) {
    builtin("ws");
    std::vector<std::string> first;
    const char* prefix = schema.contains("prefixItems") ? "prefixItems" : "items";
    if (schema.contains(prefix) && schema[prefix].is_array())
      for (const Json& one : schema[prefix])
        first.push_back(rule_for(one, below(below(path, prefix), std::to_string(first.size()))));
    else if (schema.contains("prefixItems"))
      fail_at(below(path, "prefixItems"), "expected a list");
    const std::int64_t least = size(schema, "minItems", path).value_or(0);
    auto most = size(schema, "maxItems", path);
    std::optional<std::string> item;
    if (schema.contains("items") && !schema["items"].is_array()) {
      if (schema["items"] != false) item = rule_for(schema["items"], below(path, "items"));
    } else if (first.empty() || least > std::ssize(first)) {
      item = builtin("value");
    }
    if (!item) most = std::min<std::int64_t>(most.value_or(std::ssize(first)), std::ssize(first));
    if (most.value_or(least) < least) return "[]";
    if (most && *most < std::ssize(first)) first.resize(static_cast<std::size_t>(*most));

    const std::int64_t fixed = std::ssize(first);
    const auto left = most ? std::optional(*most - fixed) : std::nullopt;
    const std::int64_t needed = std::max<std::int64_t>(least - fixed, 0);
    if (fixed == 0) {
      if (most == 0) return R"("[" ws "]")";
      const auto more = left ? std::optional(*left - 1) : std::nullopt;
      const std::string items = *item + " (\",\" ws " + *item + ")" +
                                times(std::max<std::int64_t>(needed - 1, 0), more, below(path, "minItems")) + " ws";
      return "\"[\" ws " + (needed > 0 ? items : "(" + items + ")?") + " \"]\"";
    }
    // The elements after each of the first ones, from the last one on.
    std::string rest = "\"\"";
    if (item) rest = "(\",\" ws " + *item + ")" + times(needed, left, below(path, "minItems"));
    for (std::int64_t i = fixed - 1; i >= 0; --i) {
      const std::string name = new_name(path);
      add(name, rest);
      const std::string one = (i > 0 ? "\",\" ws " : "") + first[static_cast<std::size_t>(i)] + " " + name;
      rest = i < least ? one : "(" + one + ")?";
    }
    return "\"[\" ws " + rest + " ws \"]\"";
  }

  std::string object(const Json& schema, const std::string& path) {
    builtin("ws");
    const Json properties = schema.value("properties", Json::object());
    if (!properties.is_object()) fail_at(below(path, "properties"), "expected an object");
    std::set<std::string> required;
    if (schema.contains("required")) {
      if (!schema["required"].is_array()) fail_at(below(path, "required"), "expected a list");
      for (const Json& key : schema["required"]) {
        if (!key.is_string()) fail_at(below(path, "required"), "expected a list of texts");
        required.insert(key.get<std::string>());
      }
    }
    const bool given = schema.contains("additionalProperties");
    const Json others = given ? schema["additionalProperties"] : Json(true);

    struct Member {
      std::string text;
      bool is_required;
    };
    std::vector<Member> members;
    const auto add_member = [&](const std::string& key, const Json& value, const std::string& place) {
      const bool is_required = required.erase(key) > 0;
      if (value == false && !is_required) return;
      members.push_back({gbnf_literal(Json(key).dump() + ":") + " ws " + rule_for(value, place), is_required});
    };
    std::vector<std::string> keys;
    for (const auto& [key, value] : properties.items()) {
      keys.push_back(key);
      add_member(key, value, below(below(path, "properties"), key));
    }
    for (const std::string& key : std::set(required)) {  // without a schema of their own
      if (others == false)
        fail_at(below(path, "required"), "\"", key, "\" is required, and additionalProperties forbids it");
      keys.push_back(key);
      add_member(key, others, below(path, "additionalProperties"));
    }

    std::optional<std::string> more;  // any other member
    if (others != false && (given || members.empty())) {
      std::string key = keys.empty() ? builtin("string") : "\"\\\"\" " + other_key(keys, path) + " \"\\\"\"";
      if (schema.contains("propertyNames")) {
        if (!keys.empty())
          fail_at(below(path, "propertyNames"), "this keyword is not supported beside properties or required");
        Json names = schema["propertyNames"];
        if (names.is_object()) names["type"] = "string";
        key = rule_for(names, below(path, "propertyNames"));
      }
      more = key + " \":\" ws " + rule_for(others, below(path, "additionalProperties"));
    } else if (schema.contains("propertyNames")) {
      fail_at(below(path, "propertyNames"), "this keyword is not supported beside properties or required");
    }

    const std::int64_t least = size(schema, "minProperties", path).value_or(0);
    const auto most = size(schema, "maxProperties", path);
    if (members.empty() && more) {
      if (least > 1)
        fail_at(below(path, "minProperties"), "more than 1 is not supported: got ", least,
                ", and keys that differ are not regular");
      if (most.value_or(least) < least) return "[]";
      if (most == 0) return R"("{" ws "}")";
      const auto left = most ? std::optional(*most - 1) : std::nullopt;
      const std::string all =
          *more + " (\",\" ws " + *more + ")" + times(0, left, below(path, "maxProperties")) + " ws";
      return "\"{\" ws " + (least > 0 ? all : "(" + all + ")?") + " \"}\"";
    }
    if (least > std::ranges::count_if(members, &Member::is_required))
      fail_at(below(path, "minProperties"), "it is supported up to the number of required properties");
    if (most && (more || *most < std::ssize(members)))
      fail_at(below(path, "maxProperties"), "it is not supported beside properties");

    // Two rules for each member: what follows before any member is written, and after one.
    std::string before = more ? "(" + *more + " (\",\" ws " + *more + ")*)?" : "\"\"";
    std::string after = more ? "(\",\" ws " + *more + ")*" : "\"\"";
    for (auto member = members.rbegin(); member != members.rend(); ++member) {
      const std::string rest = new_name(path), none = new_name(path);
      add(rest, after), add(none, before);
      const bool is_required = member->is_required;
      after = is_required ? "\",\" ws " + member->text + " " + rest : "(\",\" ws " + member->text + ")? " + rest;
      before = member->text + " " + rest + (is_required ? "" : " | " + none);
    }
    return "\"{\" ws (" + before + ") ws \"}\"";
  }

  /// What stands between the quotes of any key but these. Keys with escapes are left out.
  std::string other_key(const std::vector<std::string>& keys, const std::string& path, int depth = 0) {
    constexpr int kLongestKey = 200;
    if (depth > kLongestKey)
      fail_at(below(path, "additionalProperties"), "it is not supported beside a property with a name of more than ",
              kLongestKey, " characters");
    builtin("plain");
    std::map<char32_t, std::vector<std::string>> by_first;
    bool is_key = false;
    for (const std::string& key : keys) {
      if (key.empty()) {
        is_key = true;
        continue;
      }
      const CodePoint first = decode_utf8(key, 0);
      by_first[first.value].push_back(key.substr(static_cast<std::size_t>(first.size)));
    }
    CharacterRanges plain = negate({{0, 0x1F}, {'"', '"'}, {'\\', '\\'}, {0x7F, 0x7F}}), firsts;
    for (const auto& [first, rest] : by_first) firsts.emplace_back(first, first);
    std::string all = gbnf_class(intersect(plain, negate(firsts))) + " plain*";
    for (const auto& [first, rest] : by_first) {
      const CharacterRanges one = intersect(plain, {{first, first}});
      if (one.empty()) continue;  // needs an escape
      all += " | " + gbnf_class(one) + " " + other_key(rest, path, depth + 1);
    }
    if (!is_key) all += " | \"\"";
    const std::string name = new_name(path);
    add(name, all);
    return name;
  }

  // The schema of the values that conform to both.
  Json merged(const Json& a, const Json& b, const std::string& path) {
    count_work(a.dump().size() + b.dump().size());
    if (a == false || b == false) return false;
    const Json left = resolved(a, path), right = resolved(b, path);
    if (left == false || right == false) return false;
    Json both = left;
    // Each side's additionalProperties are about the properties that it does not name itself.
    const auto others = [&](const Json& from, const Json& to) {
      const auto limit = to.find("additionalProperties");
      if (limit == to.end() || *limit == true || !from.contains("properties")) return;
      for (const auto& [key, value] : from["properties"].items()) {
        if (to.contains("properties") && to["properties"].contains(key)) continue;
        both["properties"][key] = *limit == false ? Json(false) : all_of(value, *limit);
      }
    };
    for (const auto& [key, value] : right.items()) {
      if (!both.contains(key)) {
        both[key] = value;
        continue;
      }
      Json& own = both[key];
      if (own == value && key != "anyOf" && key != "oneOf") continue;
      const std::string place = below(path, key);
      if (key == "type") {
        const std::set<std::string> one = types_of({{"type", own}}, path), other = types_of({{"type", value}}, path);
        Json types = Json::array();
        for (const std::string& type : one)
          if (other.contains(type) || (type == "integer" && other.contains("number"))) types.push_back(type);
        for (const std::string& type : other)
          if (type == "integer" && one.contains("number") && !one.contains(type)) types.push_back(type);
        if (types.empty()) return false;
        own = std::move(types);
      } else if (key == "properties") {
        if (!own.is_object() || !value.is_object()) fail_at(place, "expected an object");
        for (const auto& [name, schema] : value.items())
          own[name] = own.contains(name) ? all_of(own[name], schema) : schema;
      } else if (key == "required" || key == "enum") {
        if (!own.is_array() || !value.is_array()) fail_at(place, "expected a list");
        Json all = Json::array();
        for (const Json& one : own)
          if (key == "required" || std::ranges::find(value, one) != value.end()) all.push_back(one);
        if (key == "required") all.insert(all.end(), value.begin(), value.end());
        if (all.empty()) return false;
        own = std::move(all);
      } else if (key == "const") {
        return false;  // two different values
      } else if (key == "additionalProperties" || key == "items" || key == "propertyNames") {
        if (own.is_array() || value.is_array()) fail_at(place, "lists of items cannot be merged");
        own = own == false || value == false ? Json(false) : all_of(own, value);
      } else if (key == "prefixItems") {
        if (!own.is_array() || !value.is_array() || own.size() != value.size())
          fail_at(place, "lists of different lengths cannot be merged");
        for (std::size_t i = 0; i < own.size(); ++i) own[i] = all_of(own[i], value[i]);
      } else if (key.starts_with("min") || key == "exclusiveMinimum" || key.starts_with("max") ||
                 key == "exclusiveMaximum") {
        if (!own.is_number() || !value.is_number()) fail_at(place, "expected a number");
        const bool least = key.starts_with("min") || key == "exclusiveMinimum";
        if (least ? value > own : value < own) own = value;
      } else if (key == "anyOf" || key == "oneOf") {
        Json all = Json::array();
        const Json mine = list(both, key.c_str(), path), theirs = list(right, key.c_str(), path);
        if (mine.size() * theirs.size() > kMostAlternatives) fail_at(place, "there are too many alternatives to merge");
        for (const Json& one : mine)
          for (const Json& other : theirs) all.push_back(all_of(one, other));
        own = std::move(all);
      } else if (key == "allOf") {
        if (!own.is_array() || !value.is_array()) fail_at(place, "expected a list");
        own.insert(own.end(), value.begin(), value.end());
      } else {
        fail_at(place, "two values of this keyword cannot be merged");
      }
    }
    others(left, right), others(right, left);
    return both;
  }
  static Json all_of(const Json& a, const Json& b) {
    if (a == b || b == true) return a;
    return a == true ? b : Json{{"allOf", Json::array({a, b})}};
  }
  /// A schema without annotations, of which the reference, if it is one, is replaced by what it refers to.
  Json resolved(const Json& schema, const std::string& path) {
    if (schema == true) return Json::object();
    Json own = schema;
    for (int i = 0; own.is_object() && own.contains("$ref"); ++i) {
      if (i > kMostReferences) fail_at(path, "the references refer to one another");
      check_keywords(own, path);
      const Json others = without(without_annotations(own), "$ref");
      const Json target = referenced(own["$ref"], path);
      own = others.empty() ? target : Json{{"allOf", Json::array({target, others})}};
      if (own == true) return Json::object();
    }
    if (own == false) return own;
    if (!own.is_object()) fail_at(path, "a schema is an object or a boolean");
    check_keywords(own, path);
    return without_annotations(own);
  }

  Json root_;
  std::string rules_;
  std::size_t count_ = 0, names_ = 0, work_ = 0;
  std::set<std::string> builtins_;
  std::map<std::string, std::string> known_;   // rules by schema
  std::map<std::string, std::size_t> places_;  // in open_, by rule
  std::vector<Open> open_;                     // schemas whose rules are to be added
  std::size_t present_ = 0;                    // the one whose rule is made
};

Json parse_json(std::string_view text, const char* what) {
  if (count_invalid_utf8(text) > 0) fail<InputError>("json_schema", "the ", what, " is not valid UTF-8");
  const JsonDocument checked(text, what, "json_schema", kMostValues);  // bounds the nesting and the number of values
  return Json::parse(text);
}

/// Replaces the references of a schema that becomes a part of another one.
void move_references(Json& schema, const std::string& to) {
  if (!schema.is_structured()) return;
  for (auto& [key, value] : schema.items())
    if (key == "$ref" && value.is_string() && value.get<std::string>().starts_with('#'))
      value = to + value.get<std::string>().substr(1);
    else
      move_references(value, to);
}

}  // namespace

SchemaGrammar json_schema_grammar(std::string_view schema) {
  SchemaCompiler compiler(parse_json(schema, "schema"));
  const std::string root = compiler.compile();
  return {"root ::= " + root + "\n" + compiler.rules(), std::move(compiler.warnings)};
}

std::string json_object_grammar() {
  SchemaCompiler compiler(Json::object());
  const std::string root = compiler.builtin("object");
  return "root ::= " + root + "\n" + compiler.rules();
}

SchemaGrammar tool_call_grammar(std::string_view tools, const ToolCallFormat& format, std::string_view only) {
  const Json list = parse_json(tools, "list of tools");
  if (!list.is_array()) fail<InputError>("tools", "expected a list");
  Json calls = Json::array();
  for (const Json& tool : list) {
    const Json function = tool.is_object() ? tool.value("function", Json()) : Json();
    if (!function.is_object() || !function.contains("name") || !function["name"].is_string())
      fail<InputError>("tools", "expected {\"type\": \"function\", \"function\": {\"name\": …}}, got ", tool.dump());
    if (!only.empty() && function["name"] != only) continue;
    Json parameters = function.value(
        "parameters", Json{{"type", "object"}, {"properties", Json::object()}, {"additionalProperties", false}});
    move_references(parameters, "#/anyOf/" + std::to_string(calls.size()) + "/properties/" + format.arguments_key);
    calls.push_back(
        {{"type", "object"},
         {"properties", {{format.name_key, {{"const", function["name"]}}}, {format.arguments_key, parameters}}},
         {"required", {format.name_key, format.arguments_key}},
         {"additionalProperties", false}});
  }
  if (calls.empty())
    fail<InputError>("tools",
                     only.empty() ? "there are no tools" : std::string("there is no tool \"").append(only) + "\"");
  SchemaCompiler compiler(Json{{"anyOf", calls}});
  const std::string call = compiler.compile(), end = gbnf_literal(format.end);
  std::string gbnf;
  if (!format.after_begin) {
    const std::string one = gbnf_literal(format.begin) + " " + call + " " + end;
    gbnf = "root ::= " + one;
    if (format.several) gbnf += " (" + gbnf_literal(format.between) + " " + one + ")*";
    gbnf += "\n";
  } else {
    // Free text: a rule for each number of characters of `begin` that the text ends with.
    std::u32string begin;
    for (std::size_t at = 0; at < format.begin.size();) {
      const CodePoint c = decode_utf8(format.begin, at);
      begin += c.value, at += static_cast<std::size_t>(c.size);
    }
    if (begin.empty()) fail<InputError>("tools", "the text that begins a call is empty");
    const auto longest_end = [&](const std::u32string& text) {  // that is a beginning of `begin`
      for (std::size_t n = std::min(text.size(), begin.size()); n > 0; --n)
        if (text.ends_with(begin.substr(0, n))) return n;
      return std::size_t{0};
    };
    gbnf = "root ::= free-0\n";
    for (std::size_t n = 0; n < begin.size(); ++n) {
      std::map<std::size_t, CharacterRanges> next;  // by the number of characters after one more
      CharacterRanges special;
      for (const char32_t c : std::set(begin.begin(), begin.end())) {
        if (const std::size_t to = longest_end(begin.substr(0, n) + c); to > 0)
          next[to].emplace_back(c, c), special.emplace_back(c, c);
      }
      next[0] = negate(special);
      gbnf += "free-" + std::to_string(n) + " ::= \"\"";
      for (const auto& [to, characters] : next)
        gbnf += " | " + gbnf_class(normalise(characters)) + " " +
                (to == begin.size() ? "call" : "free-" + std::to_string(to));
      gbnf += "\n";
    }
    gbnf += "call ::= " + call + " " + end + (format.several ? " free-0" : "") + "\n";
  }
  return {gbnf + compiler.rules(), std::move(compiler.warnings)};
}

}  // namespace attend
