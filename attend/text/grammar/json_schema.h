// JSON Schemas as grammars: every text of the grammar is JSON that conforms to the schema.
#pragma once
#include <string>
#include <string_view>
#include <vector>

namespace attend {

struct SchemaGrammar {
  std::string gbnf;                        ///< its root is a value of the schema
  std::vector<std::string> warnings = {};  ///< keywords that have no effect, with their path
};

/// The grammar of a JSON Schema (drafts 7 to 2020-12). Its texts need not be all that conform:
///   - members come in the order of "properties"; others are added only if "additionalProperties" is given or there are
///     no "properties"
///   - without "type", the kinds of value that the other keywords are about
///   - "oneOf" is read as "anyOf"
///   - white space is at most one space, or a line break with up to 20 spaces or tabs, after and before brackets, and
///     after commas and colons
///   - numbers have at most 15 digits, if they have bounds
/// Supported: type, enum, const, anyOf, oneOf, allOf, $ref to a place in the schema; properties, required,
/// additionalProperties, propertyNames and maxProperties of objects without "properties"; items, prefixItems, minItems,
/// maxItems; minLength, maxLength, pattern, format (date, time, date-time, uuid, email, ipv4; others are ignored with a
/// warning); minimum, maximum, exclusiveMinimum, exclusiveMaximum. Titles, descriptions and other annotations are
/// ignored. Throws InputError that names the keyword and its path for all others, for a schema that is not valid, and
/// for one without values.
SchemaGrammar json_schema_grammar(std::string_view schema);

/// The grammar of any JSON object.
std::string json_object_grammar();

/// How a model writes that it calls a tool: `begin`, a JSON object with the name and the arguments, `end`.
struct ToolCallFormat {
  std::string begin = "<tool_call>\n", end = "\n</tool_call>";
  std::string between = "\n";  ///< two calls
  std::string name_key = "name", arguments_key = "arguments";
  bool several = true;  ///< more than one call is allowed
  /// false: the text is only calls. true: the text is free until `begin` has been written; a call follows, and then
  /// free text again. For models that decide whether to call a tool.
  bool after_begin = false;
};

/// The grammar of the calls of tools. `tools` is the JSON list of OpenAI's API: {"type": "function", "function":
/// {"name", "parameters"}}. `only`: the name of the only tool that may be called; empty: all. Throws InputError as
/// json_schema_grammar() does, and if there is no such tool.
SchemaGrammar tool_call_grammar(std::string_view tools, const ToolCallFormat& format = {}, std::string_view only = {});

}  // namespace attend
