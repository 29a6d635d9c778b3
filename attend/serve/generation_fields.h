// The generation options in requests: their fields, and how the API's description lists them. Both are made from the
// declaration in decode/generation_options.h.
#pragma once
#include <cstdint>
#include <set>
#include <string>
#include <string_view>

#include "attend/decode/generation_options.h"
#include "attend/serve/fields.h"

namespace attend::serve {

/// Whose names the fields of a request have.
enum class FieldNames : std::uint8_t { openai, libre_translate };

/// The generation options that the requests of an endpoint may give.
struct GenerationFields {
  FieldNames names = FieldNames::openai;
  OptionModels models = OptionModels::all;
  std::set<std::string> only = {};     ///< just the options with these names; empty: all
  std::set<std::string> without = {};  ///< but none of these

  bool has(const std::string& name) const { return (only.empty() || only.contains(name)) && !without.contains(name); }
};

/// Those of "completions" (and of chat), "translations", "summaries" or "attention".
const GenerationFields& generation_fields(std::string_view endpoint);

/// Calls visit(option, alias) for each of them; `alias` has the name of its field.
template <typename Visit>
void visit_fields(const GenerationFields& fields, Visit&& visit) {
  visit_options([&](const auto& option) {
    if (!option.is_field || !applies(option, fields.models) || !fields.has(option.name)) return;
    OptionAlias alias = fields.names == FieldNames::openai ? option.openai : option.libre_translate;
    if (!alias.name) alias.name = option.name;
    visit(option, alias);
  });
}

/// Reads them from a request. `vocabulary` is the number of tokens, for "logit_bias". Throws ApiError invalid_value,
/// naming the field, for a value of the wrong type or out of range.
GenerationOptions read_generation_options(Fields& request, const GenerationFields& fields, std::int64_t vocabulary = 0);

/// JSON Schemas of these fields, by name. `defaults` are texts that replace the defaults of the declaration.
Json generation_schemas(const GenerationFields& fields, const Json& defaults);

}  // namespace attend::serve
