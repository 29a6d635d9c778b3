// Whether a value is as a schema says: the part of JSON Schema that the description of the API uses, and that document.
#pragma once
#include <gtest/gtest.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <string>

#include "attend/serve/openapi.h"

namespace attend::test {

using Json = nlohmann::json;

inline const Json& openapi() {
  static const Json document = Json::parse(serve::openapi_document());
  return document;
}

inline const Json& referred(const Json& reference) {
  return openapi().at(Json::json_pointer(reference.get<std::string>().substr(1)));
}

/// What is wrong with it, or nothing. Throws for a keyword that is not known here, so that none is overlooked.
inline std::string mismatch(const Json& value, const Json& schema, const std::string& place = "$") {
  const auto is_type = [&](const std::string& type) {
    return type == "object"    ? value.is_object()
           : type == "array"   ? value.is_array()
           : type == "string"  ? value.is_string()
           : type == "integer" ? value.is_number_integer()
           : type == "number"  ? value.is_number()
           : type == "boolean" ? value.is_boolean()
                               : value.is_null();
  };
  const std::string here = place + " " + value.dump().substr(0, 80);
  for (const auto& [keyword, rule] : schema.items()) {
    std::string wrong;
    if (keyword == "$ref") {
      wrong = mismatch(value, referred(rule), place);
    } else if (keyword == "type") {
      if (!is_type(rule)) wrong = here + ": not of type " + rule.get<std::string>();
    } else if (keyword == "enum") {
      if (std::find(rule.begin(), rule.end(), value) == rule.end()) wrong = here + ": none of " + rule.dump();
    } else if (keyword == "const") {
      if (value != rule) wrong = here + ": not " + rule.dump();
    } else if (keyword == "anyOf") {
      std::string all;
      const bool any = std::any_of(rule.begin(), rule.end(), [&](const Json& one) {
        const std::string problem = mismatch(value, one, place);
        all += problem + "; ";
        return problem.empty();
      });
      if (!any) wrong = here + ": fits none of: " + all;
    } else if (keyword == "minimum" || keyword == "maximum") {
      if (value.is_number() && (keyword == "minimum" ? value < rule : value > rule)) wrong = here + ": out of range";
    } else if (keyword == "minItems" || keyword == "maxItems") {
      if (value.is_array() && (keyword == "minItems" ? value.size() < rule : value.size() > rule))
        wrong = here + ": too few or too many";
    } else if (keyword == "items") {
      for (std::size_t i = 0; value.is_array() && i < value.size() && wrong.empty(); ++i)
        wrong = mismatch(value[i], rule, place + "[" + std::to_string(i) + "]");
    } else if (keyword == "required") {
      for (const Json& key : rule)
        if (value.is_object() && !value.contains(key.get<std::string>())) wrong = here + ": lacks " + key.dump();
    } else if (keyword == "properties") {
      for (const auto& [key, of_key] : rule.items())
        if (value.is_object() && value.contains(key) && wrong.empty())
          wrong = mismatch(value[key], of_key, place + "." + key);
    } else if (keyword == "additionalProperties") {
      const Json named = schema.value("properties", Json::object());
      if (value.is_object())
        for (const auto& [key, of_key] : value.items()) {
          if (named.contains(key) || !wrong.empty() || rule == true) continue;
          wrong = rule == false ? here + ": has " + key : mismatch(of_key, rule, place + "." + key);
        }
    } else if (keyword != "description") {
      throw std::logic_error("a keyword that is not known: " + keyword);
    }
    if (!wrong.empty()) return wrong;
  }
  return "";
}

/// Expects that an answer is one that the document describes, and that what was answered was asked as it describes.
inline void expect_as_described(const std::string& method, std::string path, const std::string& request, int status,
                                const std::string& type, const std::string& body) {
  path = path.substr(0, path.find('?'));
  if (path.starts_with("/v1/models/")) path = "/v1/models/{name}";
  const Json& paths = openapi()["paths"];
  const bool is_path = paths.contains(path);
  if (!is_path || !paths[path].contains(method)) {
    EXPECT_EQ(status, is_path ? 405 : 404) << method << path;
    return;
  }
  const Json& operation = paths[path][method];
  const std::string code = std::to_string(status);
  ASSERT_TRUE(operation["responses"].contains(code))
      << path << " does not say that it answers " << code << ": " << body;
  const Json& response = operation["responses"][code];
  const Json& contents = (response.contains("$ref") ? referred(response["$ref"]) : response)["content"];
  const std::string plain = type.substr(0, type.find(';'));
  ASSERT_TRUE(contents.contains(plain)) << path << " does not say that it answers with " << type;
  const Json& schema = contents[plain]["schema"];
  if (plain == "application/json") {
    EXPECT_EQ(mismatch(Json::parse(body), schema), "") << path;
  } else if (plain == "text/event-stream") {
    for (std::size_t at = 0; at < body.size(); at = body.find("\n\n", at) + 2) {
      const std::string event = body.substr(at + 6, body.find("\n\n", at) - at - 6);
      if (event == "[DONE]") continue;
      const Json json = Json::parse(event);
      const Json& of_event = json.contains("error") ? openapi()["components"]["schemas"]["Error"] : schema;
      EXPECT_EQ(mismatch(json, of_event), "") << path;
    }
  }
  const Json asked = Json::parse(request, nullptr, false);
  if (status == 200 && operation.contains("requestBody") && !asked.is_discarded()) {
    EXPECT_EQ(mismatch(asked, operation["requestBody"]["content"]["application/json"]["schema"]), "") << path;
  }
}

}  // namespace attend::test
