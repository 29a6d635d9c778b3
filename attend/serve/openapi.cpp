#include "attend/serve/openapi.h"

#include "attend/serve/assets.h"
#include "attend/serve/generation_fields.h"

namespace attend::serve {
namespace {

/// "x-generation-options": {"of": "completions", "defaults": {"max_tokens": "16"}}
void add_generation_options(Json& request) {
  const auto found = request.find("x-generation-options");
  if (found == request.end()) return;
  const Json schemas = generation_schemas(generation_fields((*found)["of"].get<std::string>()),
                                          found->value("defaults", Json::object()));
  for (const auto& [name, schema] : schemas.items()) request["properties"][name] = schema;
  request.erase("x-generation-options");
}

std::string make_document() {
  Json document = Json::parse(find_asset("/openapi.json")->data);
  for (Json& schema : document["components"]["schemas"]) add_generation_options(schema);
  return document.dump(2) + "\n";
}

}  // namespace

const std::string& openapi_document() {
  static const std::string document = make_document();
  return document;
}

}  // namespace attend::serve
