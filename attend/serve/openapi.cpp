#include "attend/serve/openapi.h"

#include <algorithm>

#include "attend/serve/assets.h"
#include "attend/serve/generation_fields.h"

namespace attend::serve {
namespace {

/// "x-generation-options": {"names": "openai", "only": ["beam"], "defaults": {"max_tokens": "16"}}
void add_generation_options(Json& request) {
  const auto found = request.find("x-generation-options");
  if (found == request.end()) return;
  const bool openai = (*found)["names"] == "openai";
  const Json schemas = generation_schemas(openai ? FieldNames::openai : FieldNames::libre_translate,
                                          openai ? OptionModels::language_models : OptionModels::encoder_decoders,
                                          found->value("defaults", Json::object()));
  const Json only = found->value("only", Json::array());
  for (const auto& [name, schema] : schemas.items())
    if (only.empty() || std::ranges::find(only, Json(name)) != only.end()) request["properties"][name] = schema;
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
