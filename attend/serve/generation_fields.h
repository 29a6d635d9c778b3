// The generation options in requests: their fields, and how the API's description lists them. Both are made from the
// declaration in decode/generation_options.h.
#pragma once
#include <set>
#include <string>

#include "attend/decode/generation_options.h"
#include "attend/serve/fields.h"

namespace attend::serve {

/// Whose names the fields of a request have.
enum class FieldNames : std::uint8_t { openai, libre_translate };

/// Calls visit(option, alias) for every option that requests may give; `alias` has the name of its field.
template <typename Visit>
void visit_fields(FieldNames names, OptionModels models, Visit&& visit) {
  visit_options([&](const auto& option) {
    if (!applies(option, models)) return;
    OptionAlias alias = names == FieldNames::openai ? option.openai : option.libre_translate;
    if (!alias.name) alias.name = option.name;
    visit(option, alias);
  });
}

/// Reads the fields of a request. `vocabulary` is the number of tokens, for "logit_bias"; with `only`, just the options
/// with these names. Throws ApiError invalid_value, naming the field, for a value of the wrong type or out of range.
GenerationOptions read_generation_options(Fields& fields, FieldNames names, OptionModels models,
                                          std::int64_t vocabulary = 0, const std::set<std::string>& only = {});

/// JSON Schemas of these fields, by name. `defaults` are texts that replace the defaults of the declaration.
Json generation_schemas(FieldNames names, OptionModels models, const Json& defaults);

}  // namespace attend::serve
